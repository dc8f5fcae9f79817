import type { AnyAnswer } from '../client/questions.js';
import type { CommandName, Commands } from '../client/session-client.js';
import { PortcullisError } from '../errors.js';
import { isRecord } from '../lib/own.js';
import { modelCalls, recordedSession } from '../project/policy/recorded-session.js';
import type { Access, Person, Role } from './access.js';
import { diffOf, listChanges, previewRewind, readTarget, rewindFiles } from './changes.js';
import { folderView, processRows, revokeTrust, trustFolder } from './folder-view.js';
import { pastEvents, pastSessions } from './past-sessions.js';
import { explainCall, listRules, replayPolicy } from './policy-view.js';
import type { SessionPlace } from './project.js';
import { answerHistory, findReceipts } from './receipts.js';
import type { SessionHub } from './session-hub.js';
import type { StartedSessions } from './start-session.js';

export interface ApiDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly hub: SessionHub;
  readonly access: Access;
  readonly started: StartedSessions;
  /** Whether the system shows which process sends a request, so that processes of agents are refused. */
  readonly tellsAgents: boolean;
}

/** The signed-in person, for the page. */
export interface Me extends Person {
  readonly tellsAgents: boolean;
}

/** An authenticated request of the page's own origin. */
export interface ApiRequest {
  readonly person: Person;
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Route {
  readonly method: 'GET' | 'POST';
  readonly role: Role;
  /** The route answers for a person or changes something, so processes of agents are refused. */
  readonly acts?: true;
  handle(request: ApiRequest, deps: ApiDeps): Promise<unknown>;
}

/** The routes of the API by path. */
export const ROUTES: ReadonlyMap<string, Route> = new Map<string, Route>([
  ['/api/me', get(async ({ person }, { tellsAgents }) => ({ ...person, tellsAgents }))],
  ['/api/overview', get(async (_, { hub }) => hub.overview())],
  ['/api/sessions', get((_, { env, hub }) => pastSessions(env, hub.only))],
  [
    '/api/transcript',
    get(async ({ query }, deps) =>
      pastEvents(await recordedAgents(deps, query), query.get('before') ?? undefined),
    ),
  ],
  [
    '/api/snapshot',
    get(async ({ query }, { hub }) => (await hub.session(query.get('key') ?? '')).snapshot()),
  ],
  [
    '/api/receipts',
    get(({ query }, { env, hub }) => {
      const text = (name: string): string | undefined => query.get(name) || undefined;
      const wanted = {
        cwd: query.get('cwd') ?? '',
        session: text('session'),
        text: text('q'),
        tool: text('tool'),
        decision: text('decision'),
      };
      return findReceipts(env, wanted, hub.fleet);
    }),
  ],
  ['/api/answers', get((_, { env }) => answerHistory(env))],
  ['/api/changes', get(({ query }, { env }) => listChanges(env, placeIn(query)))],
  ['/api/diff', get(({ query }, { env }) => diffOf(env, placeIn(query), Number(query.get('seq'))))],
  [
    '/api/spending',
    get(async ({ query }, deps) => ({
      calls: modelCalls(await recordedAgents(deps, query), query.get('provider') || 'anthropic'),
    })),
  ],
  ['/api/rules', get(({ query }, { env }) => listRules(env, query.get('cwd') ?? ''))],
  ['/api/folder', get(({ query }, { env }) => folderView(env, query.get('cwd') ?? ''))],
  ['/api/processes', get(async (_, { env }) => processRows(env))],
  [
    '/api/explain',
    look(({ body }, { env }) => {
      const { call, agent, mode } = body;
      if (typeof call !== 'string' && !isRecord(call)) {
        throw new PortcullisError('usage', 'there is no call to explain');
      }
      return explainCall(env, {
        cwd: text(body, 'cwd'),
        call,
        agent: said(agent),
        mode: said(mode),
      });
    }),
  ],
  [
    '/api/replay',
    look(({ body }, { env }) =>
      replayPolicy(env, {
        cwd: text(body, 'cwd'),
        settings: said(body.settings),
      }),
    ),
  ],
  [
    '/api/preview',
    look(({ body }, { env }) => previewRewind(env, placeOf(body), readTarget(body))),
  ],
  [
    '/api/answer',
    act('approver', async ({ body, person }, { hub }) => {
      const { answer } = body;
      if (!isRecord(answer)) throw new PortcullisError('usage', 'there is no answer');
      const given = {
        question: text(body, 'question'),
        hash: text(body, 'hash'),
        answer: answer as AnyAnswer,
      };
      return { outcome: await hub.answer(said(body.key) ?? '', given, person.name) };
    }),
  ],
  [
    '/api/send',
    act('operator', async ({ body }, { hub }) => {
      const name = text(body, 'name') as CommandName;
      const params = (isRecord(body.params) ? body.params : {}) as Commands[CommandName]['params'];
      const session = await hub.session(text(body, 'key'));
      return { result: await session.send(name, params as never) };
    }),
  ],
  [
    '/api/rewind',
    act('operator', ({ body }, { env }) =>
      rewindFiles(env, placeOf(body), {
        target: readTarget(body),
        overwrite: body.overwrite === true,
      }),
    ),
  ],
  [
    '/api/trust',
    act('operator', ({ body }, { env }) =>
      body.revoke === true
        ? revokeTrust(env, text(body, 'cwd'))
        : trustFolder(env, text(body, 'cwd'), text(body, 'digest')),
    ),
  ],
  [
    '/api/start',
    act('operator', ({ body }, { started }) =>
      started.start({
        cwd: text(body, 'cwd'),
        prompt: text(body, 'prompt'),
        model: said(body.model),
        mode: said(body.mode),
      }),
    ),
  ],
]);

function get(handle: Route['handle']): Route {
  return { method: 'GET', role: 'viewer', handle };
}

/** A route that takes a body and changes nothing. */
function look(handle: Route['handle']): Route {
  return { method: 'POST', role: 'viewer', handle };
}

function act(role: Role, handle: Route['handle']): Route {
  return { method: 'POST', role, acts: true, handle };
}

function text(body: ApiRequest['body'], name: string): string {
  const value = body[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new PortcullisError('usage', `the request has no ${name}`);
}

function said(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The transcripts of a session, of the fleet or on this machine. */
async function recordedAgents({ env, hub }: ApiDeps, query: URLSearchParams) {
  const place = placeIn(query);
  const ofFleet = await hub.fleet?.recorded(place.sessionId);
  return ofFleet ?? (await recordedSession(env, place)) ?? [];
}

function placeIn(query: URLSearchParams): SessionPlace {
  return { sessionId: query.get('session') ?? '', cwd: query.get('cwd') ?? '' };
}

function placeOf(body: ApiRequest['body']): SessionPlace {
  return { sessionId: text(body, 'session'), cwd: text(body, 'cwd') };
}
