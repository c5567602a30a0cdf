"""What code would do to names: read from its text alone, nothing is run. As far as can be seen; said where not."""

from jupyter_codeagent.notebook.effects.analysis import CodeEffects, code_effects
from jupyter_codeagent.notebook.effects.on_namespace import effects_on_namespace, format_effects

__all__ = ["CodeEffects", "code_effects", "effects_on_namespace", "format_effects"]
