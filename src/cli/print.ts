import { PortcullisError } from '../errors.js';
import type { AgentSession, LoopEvent, SessionConfig, SessionNews } from '../harness.js';
import { openSession } from '../harness.js';
import { describeEnd, resultFrame } from '../server/result.js';
import { StartNotices } from '../server/start-notices.js';
import { encodeFrame, type Frame } from '../server/wire.js';
import { withDebug } from './debug.js';
import { EXIT, exitCodeOf } from './exit-code.js';
import type { CliOptions } from './options.js';
import type { Output } from './output.js';
import { retryText } from './render.js';
import { readPiped } from './stdin.js';

export interface PrintDeps {
  readonly options: CliOptions;
  readonly config: Omit<SessionConfig, 'emit' | 'asker'>;
  readonly output: Output;
  uuid(): string;
  /** Hands the open session to whoever handles signals. */
  onOpen(session: AgentSession): void;
}

/** One prompt, one answer, an exit code that says how it went. */
export async function runPrint(deps: PrintDeps): Promise<number> {
  const { options, output } = deps;
  const piped = await readPiped({ optional: options.prompt !== undefined, warn: output.warn });
  const prompt = [options.prompt, piped]
    .filter((part) => part !== undefined && part !== '')
    .join('\n');
  if (prompt.trim() === '' && !options.initOnly) {
    throw new PortcullisError('usage', 'there is no prompt', {
      remedy: 'give one: portcullis -p "…", or pipe it in',
    });
  }
  const frames: Frame[] = [];
  const send = (frame: Frame): void => {
    if (options.outputFormat === 'stream-json') output.out(encodeFrame(frame));
    else if (options.outputFormat === 'json' && options.verbose) frames.push(frame);
  };
  let sessionId = '';
  const wantsFrames = options.outputFormat === 'stream-json' || options.verbose;
  const framer = wantsFrames
    ? (await import('./print-frames.js')).printFrames(options, () => sessionId, deps.uuid)
    : undefined;
  const notices = new StartNotices();
  const frame = (event: LoopEvent | SessionNews): void => {
    for (const one of framer?.frames(event) ?? []) send(one);
  };
  const emit = (event: LoopEvent | SessionNews): void => {
    if (options.outputFormat !== 'stream-json') tellPerson(event, output);
    if (!notices.hold(event)) frame(event);
  };
  const tellNotices = (): void => {
    for (const event of notices.release()) frame(event);
  };
  const session = await openSession({
    ...deps.config,
    emit: withDebug(output, emit),
    waitForBackground: true,
    mayDefer: true,
  }).catch((thrown: unknown) => {
    tellNotices();
    throw thrown;
  });
  deps.onOpen(session);
  sessionId = session.id;
  const sendInit = async (): Promise<void> => {
    if (framer === undefined) return;
    send(await framer.init(session));
    tellNotices();
  };
  try {
    await sendInit();
    const before = await session.begin();
    if (options.initOnly) return EXIT.done;
    for (const prompts of before)
      send(resultFrame(await session.run(prompts), session.id, deps.uuid()));
    // What is piped in beside a prompt is what the prompt is about.
    const typed = options.prompt ? { typed: options.prompt } : {};
    const content = [{ type: 'text' as const, text: prompt }];
    let run = await session.run([{ uuid: deps.uuid(), content, ...typed }]);
    let result = resultFrame(run, session.id, deps.uuid());
    // Agents may still be at work: their reports are turns of their own.
    while (run.outcome.reason.kind === 'completed' && (await session.waitForBackground())) {
      send(result);
      await sendInit();
      run = await session.run(session.takeBackgroundInput());
      result = resultFrame(run, session.id, deps.uuid());
    }
    if (options.outputFormat === 'text')
      output.answer(`${ending(run.outcome.display ?? run.outcome.text, run)}\n`);
    else if (options.outputFormat === 'json')
      output.out(`${JSON.stringify(options.verbose ? [...frames, result] : result)}\n`);
    else send(result);
    reportDenials(run.denials, output);
    return exitCodeOf(run);
  } finally {
    await session.close();
  }
}

type Run = Awaited<ReturnType<AgentSession['run']>>;

function ending(text: string, run: Run): string {
  const { reason } = run.outcome;
  if (reason.kind === 'finished') return JSON.stringify(reason.structuredOutput);
  const problem = describeEnd(reason);
  if (problem === '') return text;
  const isWhole = reason.kind === 'model_failure' || reason.kind === 'prompt_blocked';
  return text === '' || isWhole ? problem : `${text}\n${problem}`;
}

/** A refused call is never silent: what, why, and the rule that would allow it. */
function reportDenials(denials: Run['denials'], output: Output): void {
  for (const denial of denials) {
    const rule =
      denial.suggestion === undefined
        ? ''
        : `; to allow it: --allowedTools ${JSON.stringify(denial.suggestion)}`;
    output.warn(`refused: ${denial.tool_name} (${denial.reason ?? 'no reason given'})${rule}`);
  }
}

/** Standard output carries the answer alone; what went wrong on the way goes to standard error. */
function tellPerson(event: LoopEvent | SessionNews, output: Output): void {
  if (event.type === 'notice') {
    // A blocked prompt is told by the answer's place.
    if (event.level !== 'info' && event.tag !== 'prompt_blocked') output.warn(event.text);
  } else if (event.type === 'writes_lost')
    output.warn(`the transcript cannot be written: ${event.code}`);
  else if (event.type === 'retry')
    output.warn(`${event.event.failure.message}; ${retryText(event.event)}`);
}
