#include <benchgate.h>

#include <stdexcept>
#include <string>

static const std::string text(1000, 'x');

BENCHGATE(copy) { benchgate::keep(std::string(text)); }
BENCHGATE(fails) { throw std::runtime_error("it is broken"); }
namespace one { BENCHGATE(twice) { benchgate::keep(text.size()); } }
namespace other { BENCHGATE(twice) { benchgate::keep(text.size()); } }
BENCHGATE_MAIN()
