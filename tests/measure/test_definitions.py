"""Which functions texts in C++ and Rust define."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.measure.observing.definitions import defined_in, definitions

if TYPE_CHECKING:
    from pathlib import Path

CPP = r"""namespace {
struct Text : Base<int> {
    explicit Text(int a) : a_{a}, b_(2), c_{} { run(); }
    ~Text() { stop(); }
    template <class T, class = std::enable_if_t<(sizeof(T) > 1)>>
    auto next(T&& value, Options o = {}) const noexcept(noexcept(value())) -> decltype(value()) {
        if (a) { for (;;) { } }
        auto f = [&](int x) { return x; };
        struct Local { void inner() { } };
        const char* s = "}{"; char c = '}'; // }
        return value;
    }
    bool operator()(int a) const { return a; }
    bool operator<(const Text& o) const { return a < o.a; }
    operator bool() const { return true; }
    Text& operator=(const Text&) = default;
    int a_ = 0;
    int table[2] = {1, 2};
};
}
#ifdef WIN
int run(int a) {
#else
int run(long a) {
#endif
    return 1;
}
template <typename T>
template <typename U>
std::vector<std::pair<int, T>> a::b::Map<T>::each(std::function<void(T)> f)
{
    return R"x({{{)x";
}
enum class Kind { A, B };
static const int values[] = {1, 2, 3};
FMT_API class FMT_MACRO Foo final : public Bar<int> {
    virtual void go(int) override { }
};
extern "C" {
int plain(void) { return 0; }
}
__attribute__((noinline)) static unsigned hot(unsigned n) { return n; }
TEST(Foo, Bar) { run(1); }
"""
RUST = r"""#![feature(test)]
use std::{fmt, io};
const A: [u8; 2] = [b'{', b'"'];
impl<'a, T: Clone + Into<Option<u8>>> Iterator for Words<'a, T> where T: Copy {
    type Item = &'a str;
    fn next(&mut self) -> Option<&'a str> { match self.x { Some(_) => None, None => { None } } }
}
impl<T> fmt::Display for crate::text::Parser<T> { fn fmt(&self, f: &mut F<'_>) -> R { Ok(()) } }
impl Trait for [u8] { fn t(&self) {} }
impl<T> Trait for &mut T { fn u(&self) {} }
impl<F> Other for F where F: Fn(u8) -> u8 { fn call(&self) {} }
trait Shape: Sized { fn area(&self) -> f64 { r#"}"#; 0.0 } fn other(&self); }
#[inline(always)]
pub(crate) const unsafe fn raw<const N: usize>(x: [u8; N]) -> [u8; N] { fn nested() { } x[0] }
mod tests { mod deep { pub async fn go() { let v = vec![1]; if let Some(x) = y { } } } }
struct P { a: u8 }
enum E { A { x: u8 }, B }
macro_rules! m { ($x:expr) => { fn made() {} } }
"""


def found_in(text: str) -> list[tuple[str, int, int, int]]:
    return [(one.name, one.line, one.first, one.last) for one in defined_in(text)]


def test_functions_of_cpp_have_their_names_and_lines() -> None:
    assert found_in(CPP) == [
        ("Text::Text", 3, 3, 3),
        ("Text::~Text", 4, 4, 4),
        ("Text::next", 6, 5, 12),
        ("Text::operator()", 13, 13, 13),
        ("Text::operator<", 14, 14, 14),
        ("Text::operatorbool", 15, 15, 15),
        ("run", 24, 24, 27),
        ("a::b::Map::each", 30, 28, 33),
        ("Foo::go", 37, 37, 37),
        ("plain", 40, 40, 40),
        ("hot", 42, 42, 42),
        ("TEST", 43, 43, 43),
    ]


def test_functions_of_rust_have_their_types_and_lines() -> None:
    assert found_in(RUST) == [
        ("Words::next", 6, 6, 6),
        ("Parser::fmt", 8, 8, 8),
        ("t", 9, 9, 9),
        ("T::u", 10, 10, 10),
        ("F::call", 11, 11, 11),
        ("Shape::area", 12, 12, 12),
        ("nested", 14, 14, 14),
        ("raw", 14, 13, 14),
        ("tests::deep::go", 15, 15, 15),
        ("made", 18, 18, 18),
    ]


def test_what_is_no_program_has_no_functions(tmp_path: Path) -> None:
    assert definitions(tmp_path / "missing.cc") == ()
    for text in ("", "}}}}", "{{{{", "#endif\n#else\n", 'f() { "', "f(() {", "int f() {"):
        assert found_in(text) == []
