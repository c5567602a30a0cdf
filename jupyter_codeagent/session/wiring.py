"""Construction of a session from its parts; nothing else happens here."""

from __future__ import annotations

import uuid

from jupyter_codeagent.frontend.adapters import FrontEndAdapters
from jupyter_codeagent.frontend.approvals.grants import Grants
from jupyter_codeagent.frontend.approvals.live_effects import LiveEffects
from jupyter_codeagent.frontend.background_loop import BackgroundLoop
from jupyter_codeagent.frontend.cell_origin import notebook_of_kernel
from jupyter_codeagent.frontend.client_link import ClientLink
from jupyter_codeagent.frontend.link import PanelLink
from jupyter_codeagent.frontend.messages import GrantsMessage, ToPage, grant_views
from jupyter_codeagent.frontend.settings_view import SettingsHandler
from jupyter_codeagent.history import HistoryStore
from jupyter_codeagent.models.endpoint import ModelEndpoint
from jupyter_codeagent.models.resolver import ModelResolver
from jupyter_codeagent.sandbox.workspace import SandboxWorkspace
from jupyter_codeagent.session.branches import Branches
from jupyter_codeagent.session.bring_back import ResultTransfer
from jupyter_codeagent.session.cell_decisions import CellDecisions
from jupyter_codeagent.session.chat_questions import ChatQuestions
from jupyter_codeagent.session.client_calls import ClientCalls
from jupyter_codeagent.session.client_runs import ClientRuns
from jupyter_codeagent.session.consent import Consent
from jupyter_codeagent.session.context import LiveContext
from jupyter_codeagent.session.copies import VariableCopies
from jupyter_codeagent.session.current_run import CurrentRun
from jupyter_codeagent.session.done_calls import DoneCalls
from jupyter_codeagent.session.exploration import Explorer
from jupyter_codeagent.session.house_rules import read_house_rules
from jupyter_codeagent.session.model_finder import ModelFinder
from jupyter_codeagent.session.next_questions import NextQuestions
from jupyter_codeagent.session.notebook_writer import NotebookWriter
from jupyter_codeagent.session.page_handler import PageHandler
from jupyter_codeagent.session.page_state import PageState
from jupyter_codeagent.session.preparation import RunPreparation
from jupyter_codeagent.session.prompt_masking import PromptMasking
from jupyter_codeagent.session.refinement import Refinements
from jupyter_codeagent.session.report_drafts import ReportDrafts
from jupyter_codeagent.session.reproduction import Reproduction
from jupyter_codeagent.session.result_finder import ResultFinder
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.session.session import AgentSession
from jupyter_codeagent.session.settings_in_force import SettingsInForce
from jupyter_codeagent.session.starting_state import StartingState
from jupyter_codeagent.session.tool_admin import ToolAdmin
from jupyter_codeagent.session.variables_view import VariablesView
from jupyter_codeagent.settings.config import CodeAgent
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.tools.ask_model import ModelQuestions
from jupyter_codeagent.types.run import AgentRun
from jupyter_codeagent.types.run_json import run_view
from jupyter_codeagent.variables.privacy.sharing.notebook_sharing import NotebookSharing
from jupyter_codeagent.variables.user_namespace import Shell, UserNamespace


def new_session(shell: Shell, config: CodeAgent) -> AgentSession:
    """Make the session of one kernel, and announce it to the pages. Main thread; `AgentSession.close` ends it."""
    link: PanelLink | None = None
    """Set once everything exists that a page's first message needs."""

    def send(message: ToPage) -> None:
        if link is not None:
            link.send(message)

    def find_model(wanted: Settings) -> ModelEndpoint:
        return model_finder.find(wanted)

    def changed(run: AgentRun) -> None:
        send({"type": "run", "run": run_view(run)})

    background = BackgroundLoop()
    live = UserNamespace(shell)
    grants = Grants(lambda: send(GrantsMessage(type="grants", grants=grant_views(grants.all))))
    settings = SettingsInForce(config, grants)
    at_start = settings.at_start()
    run_log = RunLog(HistoryStore(), session_id=uuid.uuid4().hex[:12])
    workspace = SandboxWorkspace(max_bytes=at_start.max_transfer_bytes)
    models = ModelResolver()
    masking = PromptMasking(live, background)
    questions = ModelQuestions(
        settings=settings, models=models, masked_values=masking.values_in, run=background.run
    )
    tools = ToolAdmin(live=live, background=background, grants=grants, questions=questions, settings=settings)
    sharing = NotebookSharing(live, forget=run_log.forget_variable)
    current_run = CurrentRun()
    refinements = Refinements(run_log)
    effects = LiveEffects(live, background)
    live_context = LiveContext(
        live=live,
        sharing=sharing,
        models=models,
        find_model=find_model,
        earlier=lambda: frozenset(copy.name for copy in run_log.data_before(None).copied),
        templates=run_log.programs_without_model,
    )

    # What pages display and change.
    variables_view = VariablesView(
        live=live,
        sharing=sharing.state,
        settings=settings,
        describe=live_context.for_pages,
        house_rules=lambda settings: read_house_rules(settings, notebook_of_kernel()),
        forgotten=lambda: run_log.forgotten,
        link=lambda: link,
    )
    settings_handler = SettingsHandler(
        config=config,
        models=models,
        grants=grants,
        settings=settings,
        link=lambda: link,
        changed=variables_view.look_soon,
        submit=background.submit,
    )
    state = PageState(
        settings=settings,
        models=models,
        settings_handler=settings_handler,
        workspace=workspace,
        variables_view=variables_view,
        run_log=run_log,
        grants=grants,
        current_run=current_run,
        link=lambda: link,
    )
    page_handler = PageHandler(
        settings=settings_handler,
        sharing=sharing,
        variables=variables_view,
        effects=effects,
        results=lambda: results,
        decisions=lambda: decisions,
        grants=grants,
        send=send,
        current_run=current_run,
        client_runs=lambda: client_runs,
        chat_questions=lambda: chat_questions,
        submit=background.submit,
    )
    kernel = getattr(shell, "kernel", None)
    if kernel is not None:
        link = PanelLink(kernel, background.loop, state=state, on_event=page_handler.handle_message)
    front_ends = FrontEndAdapters(background, link, grants, kernel=kernel, effects=effects)

    # What a person decides, and what a run needs.
    consent = Consent(background=background, front_ends=front_ends, settings=settings)
    model_finder = ModelFinder(
        background=background,
        models=models,
        consent=consent,
        with_grants=settings.with_grants,
        found=lambda: link and background.loop.call_soon_threadsafe(link.send_state),
    )
    results = ResultTransfer(
        live=live,
        background=background,
        workspace=workspace,
        consent=consent,
        settings=settings,
        shared=sharing.shared,
    )
    decisions = CellDecisions(
        live=live,
        background=background,
        run_log=run_log,
        workspace=workspace,
        consent=consent,
        settings=settings,
        link=link,
    )
    notebook_writer = NotebookWriter(front_ends=front_ends, run_log=run_log, decisions=decisions, changed=changed)
    next_questions = NextQuestions(
        background=background,
        front_ends=front_ends,
        workspace=workspace,
        live=live,
        sharing=sharing,
        run_log=run_log,
        changed=changed,
    )
    starting_state = StartingState(
        background=background, run_log=run_log, workspace=workspace, sharing=sharing, grants=grants
    )
    copies = VariableCopies(
        consent=consent,
        grants=grants,
        sharing=sharing,
        live=live,
        live_context=live_context,
        tools=tools,
        workspace=workspace,
        run_log=run_log,
    )
    preparation = RunPreparation(
        front_ends=front_ends,
        settings=settings,
        models=models,
        model_finder=model_finder,
        copies=copies,
        starting_state=starting_state,
        sharing=sharing,
        live=live,
        live_context=live_context,
        masking=masking,
        workspace=workspace,
        run_log=run_log,
    )
    client_runs = ClientRuns(
        background=background,
        front_ends=front_ends,
        preparation=preparation,
        workspace=workspace,
        sharing=sharing,
        masking=masking,
        run_log=run_log,
        link=link,
    )
    chat_questions = ChatQuestions(
        settings=settings,
        runs=client_runs,
        run_log=run_log,
        current_run=current_run,
        masking=masking,
        link=link,
    )
    client_link: ClientLink | None = None
    if kernel is not None:
        calls = ClientCalls(
            settings=settings, live_context=live_context, runs=client_runs, run_log=run_log, link=link
        )
        client_link = ClientLink(
            kernel,
            background.loop,
            answers={"mcp": calls.answer, "chat": chat_questions.answer},
            left=client_runs.forget_soon,
        )
    session = AgentSession(
        config=config,
        settings=settings,
        live=live,
        background=background,
        link=link,
        grants=grants,
        run_log=run_log,
        models=models,
        model_finder=model_finder,
        workspace=workspace,
        sharing=sharing,
        masking=masking,
        live_context=live_context,
        tools=tools,
        questions=questions,
        starting_state=starting_state,
        branches=Branches(
            background=background,
            front_ends=front_ends,
            workspace=workspace,
            preparation=preparation,
            run_log=run_log,
            refinements=refinements,
            current_run=current_run,
        ),
        preparation=preparation,
        current_run=current_run,
        result_finder=ResultFinder(
            background=background,
            users_loop=BackgroundLoop(),
            front_ends=front_ends,
            models=models,
            workspace=workspace,
            questions=questions,
            masking=masking,
            sharing=sharing,
            refinements=refinements,
            current_run=current_run,
        ),
        notebook_writer=notebook_writer,
        client_runs=client_runs,
        client_link=client_link,
        explorer=Explorer(
            front_ends=front_ends,
            workspace=workspace,
            run_log=run_log,
            notebook_writer=notebook_writer,
            current_run=current_run,
            next_questions=next_questions,
            link=link,
        ),
        report_drafts=ReportDrafts(live=live, run_log=run_log),
        reproduction=Reproduction(front_ends=front_ends, workspace=workspace, sharing=sharing),
        decisions=decisions,
        results=results,
        refinements=refinements,
        next_questions=next_questions,
        done_calls=DoneCalls(run_log, changed=changed),
        variables_view=variables_view,
        state=state,
    )
    _connect(background, link, notebook_writer, kernel)
    return session


def _connect(
    background: BackgroundLoop, link: PanelLink | None, notebook_writer: NotebookWriter, kernel: object
) -> None:
    """Have pages handled while a cell runs, and calls to the main thread while none does."""
    if link is not None:
        background.handle_while_waiting(link.handle_main_shell)
        link.on_late_insertion(notebook_writer.inserted_late)
        link.announce()
    main_loop = getattr(kernel, "io_loop", None)
    if main_loop is not None:
        background.serve_when_idle(main_loop.add_callback)
