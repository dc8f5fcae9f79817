import type { CommandOutput, SessionEvent } from '../client/events.js';
import type { AnyAnswer } from '../client/questions.js';
import type { SessionClient } from '../client/session-client.js';
import {
  commandOrPrompt,
  readTypedLine,
  sendTyped,
  type TypedInput,
  type TypedLine,
} from '../client/typed-input.js';
import { messageOf, PortcullisError } from '../errors.js';
import { DisplayOptions } from './display-options.js';
import { DrawScheduler } from './draw-scheduler.js';
import { DrawnScreen } from './drawn-screen.js';
import type { EntryOptions } from './entries.js';
import { type Action, Composer } from './input/composer.js';
import { PromptHistory } from './input/history.js';
import { KeyReader } from './input/key-reader.js';
import type { InputEvent, Key } from './input/keys.js';
import { CHOICE, LineScreen } from './line-screen.js';
import { isTheme, THEMES } from './screen/theme.js';
import { SessionStatus } from './session-status.js';
import { SessionView, STATUS_EVENTS } from './session-view.js';
import type { Leaving, TerminalOptions } from './terminal-options.js';
import { loadHighlighter } from './views/highlight.js';
import { Window } from './window.js';

const TWICE_MS = 2_000;
const HISTORY_ENTRIES = { full: 30, lines: 4, dumb: 4, pipe: 4 } as const;
const LONG_TURN_MS = 15_000;
const MODES = ['default', 'acceptEdits', 'plan'] as const;

/** The terminal of one session: draws what happens, sends what is typed, answers questions. */
export class Terminal {
  readonly left: Promise<Leaving>;
  readonly #client: SessionClient;
  readonly #options: TerminalOptions;
  readonly #window: Window;
  readonly #status: SessionStatus;
  readonly #view: SessionView;
  readonly #composer: Composer;
  readonly #keys = new KeyReader({
    onEvent: (event, chunk) => this.#handle(event, chunk),
    onIdle: () => this.#drawing.now(),
  });
  readonly #unsubscribe: () => void;
  readonly #drawing: DrawScheduler;
  readonly #display = new DisplayOptions(() => this.#drawing.now());
  readonly #screen: DrawnScreen | LineScreen;
  #leave: (how: Leaving) => void = () => undefined;
  #lastInterrupt = Number.NEGATIVE_INFINITY;

  constructor(client: SessionClient, options: TerminalOptions) {
    this.#client = client;
    this.#options = options;
    this.left = new Promise((resolve) => {
      this.#leave = resolve;
    });
    this.#view = new SessionView(options);
    const history = new PromptHistory(options.history);
    const { keys, now, kind } = options;
    this.#composer = new Composer({
      history,
      keys,
      now,
      complete: async (query, signal) => {
        const found = await client.send('complete', query, signal);
        return this.#screen instanceof LineScreen ? this.#screen.listCompletions(found) : found;
      },
      onChange: () => {
        // Append-only mode shows no menu: Tab takes the only completion.
        if (kind !== 'full') this.#composer.press({ id: 'tab', text: '' });
        this.#drawing.now();
      },
    });
    this.#window = new Window(options.device, options);
    this.#status = new SessionStatus(client, { ...options, onChange: () => this.#statusChanged() });
    this.#drawing = new DrawScheduler(() => this.#draw(), now);
    const state = { view: this.#view, display: this.#display, status: this.#status };
    const parts = { ...options, ...state, window: this.#window, composer: this.#composer };
    this.#screen = kind === 'full' ? new DrawnScreen(parts) : new LineScreen(parts);
    if (kind !== 'pipe') options.device.onInput((data) => this.#keys.feed(data));
    options.device.onResize(() => this.#drawing.now());
    this.#unsubscribe = client.subscribe(({ event }) => this.#follow(event), { after: 0 });
    this.#status.refresh();
    if (options.prompt !== undefined) this.#run(options.prompt);
    options.pipe?.({
      onOutput: (command, output) => this.#showOutput(command, output),
      onProblem: (text) => this.#view.conversation.notice(text, 'error'),
      onEnd: () => this.#leave('left'),
    });
    this.#drawing.now();
  }

  /** Writes what is unwritten and gives the window back. Safe to call twice, and from an exit handler. */
  close(): void {
    if (this.#window.isAway) return;
    this.#unsubscribe();
    this.#status.close();
    this.#drawing.close();
    this.#keys.close();
    this.#display.close();
    this.#view.conversation.endTurn();
    const { columns } = this.#window.size;
    const { info } = this.#status.snapshot ?? {};
    const hasRun = this.#view.conversation.entries.some(({ kind }) => kind === 'prompt');
    if (info !== undefined && hasRun && this.#options.resumable === true) {
      this.#view.conversation.notice(`To continue: portcullis --resume ${info.sessionId}`);
    }
    this.#window.commit(this.#view.conversation.take({ columns, now: this.#options.now() }));
    this.#window.close();
  }

  #follow(event: SessionEvent): void {
    if ((event.type === 'stream' || event.type === 'block') && this.#options.streams?.() === false)
      return;
    // fail-closed: a pipe answers nothing; what it holds was written before the question.
    if (event.type === 'question' && this.#options.kind === 'pipe') return;
    this.#view.follow(event);
    if (STATUS_EVENTS.has(event.type)) this.#status.refresh();
    switch (event.type) {
      case 'opened':
        this.#applySettings();
        if (this.#screen instanceof LineScreen) this.#screen.greet(event);
        void this.#showHistory();
        break;
      case 'turn_started':
        void loadHighlighter();
        break;
      case 'turn_finished':
        if (event.turn.run.durationMs > LONG_TURN_MS) this.#window.notify('The turn is finished.');
        break;
      case 'question':
        this.#window.notify('Portcullis has a question.');
        break;
      case 'closed':
        this.#leave('closed');
        break;
      default:
        break;
    }
    this.#drawing.soon();
  }

  async #showHistory(): Promise<void> {
    const limit = HISTORY_ENTRIES[this.#options.kind];
    const entries = await this.#client.send('history', { limit }).catch(() => []);
    this.#view.conversation.addHistory(entries);
    this.#drawing.soon();
  }

  #handle(event: InputEvent, { isPasted }: { readonly isPasted: boolean }): void {
    if (this.#window.isAway) return;
    if (event.type === 'focus') this.#window.isFocused = event.focused;
    else if (event.type === 'paste') this.#paste(event.text);
    else if (event.type === 'reply') this.#window.takeReply(event.text);
    else if (!this.#window.hasOverlay) this.#press(this.#asPasted(event.key, isPasted));
    else {
      const result = this.#window.press(event.key);
      // The key that closed the overlay, pressed twice, must not answer a question behind it.
      if (result.kind !== 'stay') this.#view.questions.hide();
      if (result.kind === 'run') this.#run(result.line);
    }
  }

  /** The settings of the user are known. */
  #applySettings(): void {
    const { editorMode, theme = 'auto' } = this.#options.settings?.() ?? {};
    this.#composer.useVim(editorMode === 'vim');
    if (this.#window.useTheme(String(theme)) === 'asked') this.#keys.expectReply();
    if (isTheme(String(theme))) return;
    const text = `There is no theme "${theme}". Themes: ${THEMES}.`;
    this.#view.conversation.notice(text, 'warning');
  }

  /** fail-closed: of pasted lines that begin with `!` none is run because a line break follows it. */
  #asPasted(key: Key, isPasted: boolean): Key {
    const isCommand = key.id === 'enter' && this.#composer.editor.text.startsWith('!');
    return isPasted && isCommand ? { id: 'ctrl+j', text: '' } : key;
  }

  #paste(text: string): void {
    if (this.#window.hasOverlay || this.#view.questions.paste(text)) return;
    this.#composer.paste(text);
  }

  #press(key: Key): void {
    const isQuestion = this.#view.questions.settlesIn === 0;
    if (isQuestion && (key.id === 'ctrl+z' || key.id === 'ctrl+o')) {
      this.#act(key.id === 'ctrl+z' ? 'suspend' : 'transcript');
      return;
    }
    if (key.id === 'enter' && this.#screen instanceof LineScreen) this.#screen.keepAnswer();
    if (key.id !== 'ctrl+c') this.#lastInterrupt = Number.NEGATIVE_INFINITY;
    const asked = this.#view.questions.press(
      key.id === 'ctrl+c' ? { id: 'escape', text: '' } : key,
    );
    if (asked !== undefined) {
      if (asked.answer !== undefined) void this.#answer(asked.id, asked.answer);
      return;
    }
    const result = this.#composer.press(key);
    if (result.kind === 'submit') void this.#submit(result);
    else if (result.kind === 'action') this.#act(result.action);
    if (this.#options.kind === 'full' || key.id === 'tab') this.#composer.requestCompletions();
  }

  async #answer(id: string, answer: AnyAnswer): Promise<void> {
    if (id === CHOICE && 'option' in answer) {
      this.#view.questions.remove(id);
      if (answer.option !== '') this.#run(answer.option);
      return;
    }
    const question = this.#view.questions.first;
    // A second key must not answer again; the next question gets the keys after a pause.
    this.#view.questions.remove(id);
    try {
      await this.#client.answer(id, answer);
    } catch (thrown) {
      this.#view.conversation.notice(messageOf(thrown), 'error');
      if (question?.id === id) this.#view.questions.add(question);
    }
    this.#drawing.soon();
  }

  /** A line that no key of the person wrote. */
  #run(text: string): void {
    void this.#submit({ text }, commandOrPrompt(text));
  }

  async #submit(input: TypedInput, typed: TypedLine = readTypedLine(input)): Promise<void> {
    const { conversation } = this.#view;
    const { text, shown = text } = input;
    const id = crypto.randomUUID();
    if (this.#screen instanceof LineScreen) this.#screen.keepPrompt(shown);
    if (typed.kind === 'prompt' && shown !== text) conversation.shownAs.set(id, shown);
    try {
      const { output, notices } = await sendTyped(this.#client, typed, { ...input, id });
      if (output !== undefined) this.#showOutput(text, output);
      for (const notice of notices) conversation.notice(notice);
    } catch (thrown) {
      const remedy = thrown instanceof PortcullisError ? thrown.remedy : undefined;
      conversation.notice([messageOf(thrown), remedy ?? []].flat().join(' · '), 'error');
      // What was not run can be changed and sent again.
      const isKept = typed.kind === 'rejected' || typed.kind === 'shell';
      if (isKept && this.#composer.editor.isEmpty) this.#composer.editor.restore(text);
    }
    this.#status.refresh();
    this.#drawing.soon();
  }

  #showOutput(command: string, output: CommandOutput): void {
    if (output.exit === true) {
      this.#leave('left');
      return;
    }
    if (output.draft !== undefined) this.#composer.editor.set(output.draft);
    this.#screen.show(command, output);
    this.#drawing.soon();
  }

  #act(action: Action): void {
    const { editor } = this.#composer;
    switch (action) {
      case 'interrupt':
        if (this.#view.runningSince !== undefined) this.#interrupt();
        return;
      case 'clear-or-quit':
        this.#clearOrQuit();
        return;
      case 'quit':
        this.#leave('left');
        return;
      case 'rewind':
        this.#run('/rewind');
        return;
      case 'suspend':
        this.#window.suspend(() => this.#drawing.now());
        return;
      case 'next-mode':
        void this.#nextMode();
        return;
      case 'external-editor':
        void this.#editOutside();
        return;
      case 'transcript':
        this.#screen.showTranscript(this.#shown());
        return;
      case 'toggle-todos':
        this.#display.toggle('todos');
        return;
      case 'toggle-thinking':
        this.#display.toggle('thinking');
        return;
      case 'toggle-receipts':
        this.#display.toggle('receipts');
        return;
      case 'redraw':
        this.#window.refresh();
        return;
      case 'take-back': {
        const last = this.#view.conversation.queue.at(-1);
        if (last === undefined || !editor.isEmpty) return;
        void this.#client.send('cancelPrompt', { id: last.id }).then(({ cancelled }) => {
          if (cancelled) editor.restore(last.text);
          this.#drawing.now();
        });
        return;
      }
      case 'paste-image':
        void this.#pasteImage();
        return;
    }
  }

  async #pasteImage(): Promise<void> {
    try {
      const data = await this.#options.clipboardImage?.();
      const found = data === undefined ? undefined : await this.#client.send('image', { data });
      if (found?.image !== undefined) this.#composer.editor.attach(found.image);
      else this.#display.flash('There is no image on the clipboard.');
    } catch (thrown) {
      this.#display.flash(messageOf(thrown));
    }
    this.#drawing.now();
  }

  /** Queued prompts come back into the editor: nothing is sent that the person wanted to stop. */
  #interrupt(): void {
    const { editor } = this.#composer;
    const queued = this.#view.conversation.queue.map(({ text }) => text);
    if (queued.length > 0) {
      editor.restore([...queued, ...(editor.isEmpty ? [] : [editor.expanded])].join('\n'));
    }
    void this.#client.send('interrupt', { cancelQueued: true });
  }

  #clearOrQuit(): void {
    const now = this.#options.now();
    const isSecond = now - this.#lastInterrupt < TWICE_MS;
    this.#lastInterrupt = now;
    if (!this.#composer.editor.isEmpty && !isSecond) {
      this.#composer.editor.set('');
      this.#display.flash('Press Ctrl+C again to quit.');
    } else if (isSecond) this.#leave('interrupted');
    else if (this.#view.runningSince !== undefined) {
      this.#interrupt();
      this.#display.flash('Interrupted. Press Ctrl+C again to quit.');
    } else this.#display.flash('Press Ctrl+C again to quit.');
  }

  async #nextMode(): Promise<void> {
    const mode = this.#view.snapshot?.info?.mode ?? 'default';
    const index = (MODES as readonly string[]).indexOf(mode);
    const next = MODES[(index + 1) % MODES.length] ?? 'default';
    try {
      await this.#client.send('configure', { mode: next });
    } catch (thrown) {
      this.#display.flash(messageOf(thrown));
    }
    this.#status.refresh();
  }

  async #editOutside(): Promise<void> {
    const { editText } = this.#options;
    if (editText === undefined) return;
    const { editor } = this.#composer;
    try {
      const edited = await this.#window.lend(() => editText(editor.expanded));
      if (edited !== undefined) editor.restore(edited.replace(/\n+$/, ''));
    } catch (thrown) {
      this.#view.conversation.notice(messageOf(thrown), 'error');
    }
    this.#drawing.now();
  }

  #statusChanged(): void {
    const { snapshot } = this.#status;
    this.#view.update(snapshot);
    if (this.#screen instanceof DrawnScreen) this.#screen.branch = this.#options.branch?.();
    const mark = this.#view.runningSince === undefined ? '' : '● ';
    this.#window.setTitle(`${mark}portcullis · ${snapshot?.info?.cwd.split(/[\\/]/).at(-1) ?? ''}`);
    this.#drawing.soon();
  }

  #draw(): void {
    if (this.#window.isAway) return;
    const next = this.#screen.draw(this.#shown());
    if (next !== undefined) this.#drawing.after(next);
  }

  #shown(): EntryOptions {
    const { columns } = this.#window.size;
    const showThinking = this.#display.shows('thinking');
    const showReceipts = this.#display.shows('receipts');
    return { columns, now: this.#options.now(), showThinking, showReceipts };
  }
}
