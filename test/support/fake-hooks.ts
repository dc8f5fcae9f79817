import {
  type Hook,
  type HookAnswer,
  type HookDispatch,
  type HookEventName,
  type HookReport,
  NO_ANSWER,
  type Occasion,
} from '../../src/hooks/registry/hook.js';

/** What a hook of a test says: an answer, or more of a report. */
export type Said = Partial<Omit<HookReport, 'answer'>> & {
  readonly answer?: Partial<HookAnswer>;
};

/** A throw is the hook's failure. */
export type Says = (occasion: Occasion) => Said | Promise<Said>;

export interface FakeHook extends Partial<Pick<Hook, 'matcher' | 'onFailure' | 'restrictOnly'>> {
  readonly says: Says;
}

export interface FakeHooks {
  readonly dispatch: HookDispatch;
  /** Every occasion that fired, in order. */
  readonly fired: readonly Occasion[];
}

/** A dispatch whose hooks are functions, by label; they stand for hooks of every kind. */
export function fakeHooks(
  event: HookEventName,
  hooks: Readonly<Record<string, FakeHook | Says>>,
): FakeHooks {
  const fired: Occasion[] = [];
  const all = Object.entries(hooks).map(([label, given]) => {
    const fake = typeof given === 'function' ? { says: given } : given;
    return { fake, hook: hookOf(event, label, fake) };
  });
  const matching = (asked: HookEventName, { matched }: Pick<Occasion, 'matched'>) =>
    asked !== event
      ? []
      : all.filter(({ hook }) => hook.matcher === undefined || matched.includes(hook.matcher));
  return {
    fired,
    dispatch: {
      has: (asked, occasion) => matching(asked, occasion).length > 0,
      async fire(asked, occasion) {
        fired.push(occasion);
        const asking = matching(asked, occasion).map(async ({ hook, fake }) =>
          reportOf(hook, await outcomeOf(fake, occasion)),
        );
        return { reports: await Promise.all(asking) };
      },
    },
  };
}

async function outcomeOf(fake: FakeHook, occasion: Occasion): Promise<Said> {
  try {
    return await fake.says(occasion);
  } catch (thrown) {
    return { failure: { cause: 'threw', message: String(thrown) } };
  }
}

function reportOf(hook: Hook, { answer, ...rest }: Said): HookReport {
  const refuses = rest.failure !== undefined && hook.onFailure === 'block';
  return {
    hook,
    ms: 0,
    answer: { ...NO_ANSWER, ...answer },
    ...(refuses ? { refuses } : {}),
    ...rest,
  };
}

function hookOf(event: HookEventName, label: string, fake: FakeHook): Hook {
  const { matcher, restrictOnly } = fake;
  return {
    id: label,
    event,
    role: 'gate',
    handler: { type: 'command', command: 'true' },
    source: 'user',
    file: '/settings.json',
    line: 7,
    timeoutMs: 5000,
    onFailure: fake.onFailure ?? 'block',
    label,
    ...(matcher === undefined ? {} : { matcher }),
    ...(restrictOnly === undefined ? {} : { restrictOnly }),
  };
}
