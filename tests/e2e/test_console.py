"""What the other browser tests rely on: nothing that goes wrong in a page goes unheard."""

from __future__ import annotations

import pytest
from browser_console import BrowserConsole
from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

GOES_WRONG = {
    "console.error('said')": "error: said",
    "console.warn('of jupyter-codeagent')": "warning: of jupyter-codeagent",
    "setTimeout(() => { throw new Error('thrown') })": "thrown",
    "void Promise.reject(new Error('rejected'))": "rejected",
}


@pytest.mark.parametrize(("script", "complaint"), GOES_WRONG.items())
def test_an_error_in_a_page_however_opened_fails_the_test_that_does_not_tolerate_it(
    browser: Browser, quiet_console: BrowserConsole, script: str, complaint: str
) -> None:
    for page in (browser.new_page(), browser.new_context().new_page()):
        page.set_content(f"<script>{script}</script>")
        page.wait_for_timeout(200)
        page.context.close()
        with pytest.raises(AssertionError, match=complaint):
            quiet_console.check()


def test_what_a_test_tolerates_and_the_warnings_of_others_are_no_failure_and_the_next_test_tolerates_nothing(
    browser: Browser, quiet_console: BrowserConsole
) -> None:
    page = browser.new_page()
    quiet_console.tolerated.append("provoked")
    page.evaluate("() => { console.error('provoked'); console.warn('of another'); }")
    assert quiet_console.complaints == ["error: provoked ()"]
    quiet_console.check()
    page.evaluate("() => console.error('provoked')")
    with pytest.raises(AssertionError, match="provoked"):
        quiet_console.check()
    page.context.close()
