"""What code would do to names: read from its text alone, nothing is run. As far as can be seen; said where not."""

from jupyter_codeagent.notebook.effects.against import effects_lines, effects_on
from jupyter_codeagent.notebook.effects.text import CodeEffects, code_effects

__all__ = ["CodeEffects", "code_effects", "effects_lines", "effects_on"]
