// A tool, not a test: ns per element of math.hpp against xsimd's own functions, workload A2 and single functions.
//   g++ -std=c++20 -O2 -march=native -Iinclude tests/num/bench_xsimd.cpp -o bench && ./bench
#include <xsimd/xsimd.hpp>
#include "ttensor/num/math.hpp"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <algorithm>
using namespace ttensor; namespace m=ttensor::math;
template<class T> struct D{ std::vector<T> x,z,y; };
template<class T,int K> struct P { static constexpr int N=K*native_width_v<T>; };
template<class T,int K,class F> __attribute__((noinline)) void ours(const T*x,const T*z,T*y,int n,F f){ using p=pack<T,K*native_width_v<T>>; int i=0; for(;i+p::size<=n;i+=p::size) f(p::load(x+i),p::load(z+i)).store(y+i); for(;i<n;i++) y[i]=f(x[i],z[i]); }
template<class T,class F> __attribute__((noinline)) void xs(const T*x,const T*z,T*y,int n,F f){ using p=xsimd::batch<T>; int W=(int)p::size; int i=0; for(;i+W<=n;i+=W) f(p::load_unaligned(x+i),p::load_unaligned(z+i)).store_unaligned(y+i); }
template<class G> double tm(G g,int n){ double best=1e9; for(int r=0;r<40;r++){ auto t=std::chrono::steady_clock::now(); int it=200000/n*1+1; it=100; for(int k=0;k<it;k++){ g(); __asm__ volatile("":::"memory"); } double d=std::chrono::duration<double>(std::chrono::steady_clock::now()-t).count()/it/n*1e9; best=std::min(best,d);} return best; }
template<class T> void all(const char*t){ int n=1024; std::vector<T> x(n),z(n),y(n); unsigned s=1; for(int i=0;i<n;i++){ s=s*1664525u+1013904223u; x[i]=T(-3+6*(s/4294967296.0)); s=s*1664525u+1013904223u; z[i]=T(-2+4*(s/4294967296.0)); }
#define R(name,o,xx) { double a=tm([&]{ours<T,1>(x.data(),z.data(),y.data(),n,[](auto x,auto z){(void)x;(void)z; using namespace ttensor::math; return o;});},n); double a2=tm([&]{ours<T,2>(x.data(),z.data(),y.data(),n,[](auto x,auto z){(void)x;(void)z; using namespace ttensor::math; return o;});},n); double b=tm([&]{xs<T>(x.data(),z.data(),y.data(),n,[](auto x,auto z){(void)x;(void)z; using namespace xsimd; return xx;});},n); printf("%s %-8s ours %.3f (2 regs %.3f)  xsimd %.3f ns/elem  ratio %.2f\n",t,name,a,a2,b,a/b); }
 R("A2", m::exp(-x*x)*m::sin(x)+m::tanh(z), xsimd::exp(-x*x)*xsimd::sin(x)+xsimd::tanh(z))
 R("exp", m::exp(x), xsimd::exp(x))
 R("sin", m::sin(x), xsimd::sin(x))
 R("cos", m::cos(x), xsimd::cos(x))
 R("sin+cos", m::sin(x)*m::cos(x), xsimd::sin(x)*xsimd::cos(x))
 R("tanh", m::tanh(x), xsimd::tanh(x))
 R("log", m::log(x*x), xsimd::log(x*x))
 R("sigmoid", m::sigmoid(x), T(1)/(T(1)+xsimd::exp(-x)))
 R("sqrt", m::sqrt(x*x), xsimd::sqrt(x*x))
}
int main(){ all<float>("f32"); all<double>("f64"); }
