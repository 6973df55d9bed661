#pragma once
#include <sstream>
#include <string>

inline int count(const std::string& text) {
  std::istringstream words(text);
  std::string word;
  int n = 0;
  while (words >> word) ++n;
  return n;
}
