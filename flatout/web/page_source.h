// page.html, page.css and page.js as they lie in the source folder.
#pragma once

#include <string_view>

namespace flatout::web {

extern const std::string_view kPageHtml, kPageCss, kPageScript;

}  // namespace flatout::web
