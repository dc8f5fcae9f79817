import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a test can bend in an authorization server. All of it may be changed while it runs. */
export interface OAuthBehaviour {
  /** Seconds that access tokens live. */
  expiresIn: number | undefined;
  withRefresh: boolean;
  /** What refresh requests are answered with; undefined: tokens. */
  refreshError: string | undefined;
  /** HTTP status of every answer of the token endpoint. */
  tokenStatus: number | undefined;
  registration: 'open' | 'rejected' | 'absent';
  /** `iss` of the redirect; undefined: none. */
  iss: ((own: string) => string) | undefined;
  announcesIss: boolean;
  /** In place of the state that was sent. */
  state: string | undefined;
  /** In place of a code. */
  authorizeError: string | undefined;
  metadata: Record<string, unknown>;
  resourceMetadata: Record<string, unknown>;
  /** Redirects metadata requests there. */
  metadataRedirect: string | undefined;
  scopesSupported: readonly string[] | undefined;
  /** Of the 401. */
  challengeScope: string | undefined;
  /** Whether the 401 says where its metadata is. */
  namesMetadata: boolean;
  /** Scope that a token needs for `tools/call`. */
  callScope: string | undefined;
  /** In place of `Bearer`. */
  tokenType: string;
  /** Milliseconds before a token is given. */
  slowMs: number;
  /** HTTP status of the revocation endpoint; undefined: there is none. */
  revocation: number | undefined;
}

export interface OAuthRecord {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly form: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** An authorization server and a resource server in one, on loopback, with everything written down. */
export class OAuthTestServer {
  readonly behaviour: OAuthBehaviour = {
    expiresIn: 3600,
    withRefresh: true,
    refreshError: undefined,
    tokenStatus: undefined,
    registration: 'open',
    iss: undefined,
    announcesIss: false,
    state: undefined,
    authorizeError: undefined,
    metadata: {},
    resourceMetadata: {},
    metadataRedirect: undefined,
    scopesSupported: undefined,
    challengeScope: undefined,
    namesMetadata: true,
    callScope: undefined,
    tokenType: 'Bearer',
    slowMs: 0,
    revocation: undefined,
  };
  readonly requests: OAuthRecord[] = [];
  readonly #server: Server;
  readonly #codes = new Map<string, { challenge: string; scope: string; redirect: string }>();
  readonly #access = new Map<string, string>();
  readonly #refresh = new Map<string, string>();
  #count = 0;

  constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `${this.origin}/mcp`;
  }

  /** Requests to one path, in order. */
  to(path: string): OAuthRecord[] {
    return this.requests.filter((one) => one.path === path);
  }

  /** All tokens are void from now on; refresh tokens too when asked. */
  revoke(options: { refresh: boolean } = { refresh: false }): void {
    this.#access.clear();
    if (options.refresh) this.#refresh.clear();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.origin);
    let body = '';
    for await (const chunk of request) body += chunk;
    const record = {
      path: url.pathname,
      query: url.searchParams,
      form: new URLSearchParams(body),
      headers: request.headers,
      body,
    };
    this.requests.push(record);
    const { metadataRedirect } = this.behaviour;
    if (url.pathname.startsWith('/.well-known/') && metadataRedirect !== undefined) {
      response.writeHead(302, { location: `${metadataRedirect}${url.pathname}` }).end();
      return;
    }
    switch (url.pathname) {
      case '/.well-known/oauth-protected-resource/mcp':
        return json(response, 200, this.#resource());
      case '/.well-known/oauth-authorization-server':
        return json(response, 200, this.#metadata());
      case '/register':
        return this.#register(record, response);
      case '/authorize':
        return this.#authorize(record, response);
      case '/token':
        return await this.#token(record, response);
      case '/revoke':
        return void response.writeHead(this.behaviour.revocation ?? 404).end();
      case '/mcp':
        return this.#mcp(record, response);
      default:
        response.writeHead(404).end();
    }
  }

  #resource(): unknown {
    return {
      resource: this.url,
      authorization_servers: [this.origin],
      ...this.behaviour.resourceMetadata,
    };
  }

  #metadata(): unknown {
    const { registration, announcesIss, scopesSupported, metadata } = this.behaviour;
    return {
      issuer: this.origin,
      authorization_endpoint: `${this.origin}/authorize`,
      token_endpoint: `${this.origin}/token`,
      ...(registration === 'absent' ? {} : { registration_endpoint: `${this.origin}/register` }),
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
      ...(announcesIss ? { authorization_response_iss_parameter_supported: true } : {}),
      ...(this.behaviour.revocation === undefined
        ? {}
        : { revocation_endpoint: `${this.origin}/revoke` }),
      ...(scopesSupported === undefined ? {} : { scopes_supported: scopesSupported }),
      ...metadata,
    };
  }

  #register({ body }: OAuthRecord, response: ServerResponse): void {
    if (this.behaviour.registration === 'open') {
      json(response, 201, { ...JSON.parse(body), client_id: `client-${++this.#count}` });
    } else json(response, 400, { error: 'invalid_client_metadata' });
  }

  #authorize({ query }: OAuthRecord, response: ServerResponse): void {
    const { iss, authorizeError, state } = this.behaviour;
    const back = new URL(query.get('redirect_uri') ?? '');
    const code = `code-${++this.#count}`;
    this.#codes.set(code, {
      challenge: query.get('code_challenge') ?? '',
      scope: query.get('scope') ?? '',
      redirect: back.href,
    });
    if (authorizeError === undefined) back.searchParams.set('code', code);
    else back.searchParams.set('error', authorizeError);
    back.searchParams.set('state', state ?? query.get('state') ?? '');
    if (iss !== undefined) back.searchParams.set('iss', iss(this.origin));
    response.writeHead(302, { location: back.href }).end();
  }

  async #token({ form }: OAuthRecord, response: ServerResponse): Promise<void> {
    const { tokenStatus, refreshError, slowMs } = this.behaviour;
    if (slowMs > 0) await new Promise((resolve) => setTimeout(resolve, slowMs));
    if (tokenStatus !== undefined) return void response.writeHead(tokenStatus).end('out of order');
    if (form.get('grant_type') === 'refresh_token') {
      const given = form.get('refresh_token') ?? '';
      const scope = this.#refresh.get(given);
      if (refreshError !== undefined || scope === undefined) {
        return json(response, 400, { error: refreshError ?? 'invalid_grant' });
      }
      // One use, as OAuth 2.1 wants it.
      this.#refresh.delete(given);
      return this.#grant(scope, response);
    }
    const code = this.#codes.get(form.get('code') ?? '');
    this.#codes.delete(form.get('code') ?? '');
    const verifier = form.get('code_verifier') ?? '';
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    if (code?.challenge !== challenge || code.redirect !== form.get('redirect_uri')) {
      return json(response, 400, { error: 'invalid_grant' });
    }
    this.#grant(code.scope, response);
  }

  #grant(scope: string, response: ServerResponse): void {
    const { expiresIn, withRefresh, tokenType } = this.behaviour;
    const access = `SECRET-access-${++this.#count}`;
    const refresh = `SECRET-refresh-${++this.#count}`;
    this.#access.set(access, scope);
    if (withRefresh) this.#refresh.set(refresh, scope);
    json(response, 200, {
      access_token: access,
      token_type: tokenType,
      ...(scope === '' ? {} : { scope }),
      ...(expiresIn === undefined ? {} : { expires_in: expiresIn }),
      ...(withRefresh ? { refresh_token: refresh } : {}),
    });
  }

  /** The least of an MCP server: 401 without a token, 403 without the scope, else an answer. */
  #mcp({ headers, body }: OAuthRecord, response: ServerResponse): void {
    const { challengeScope, callScope, namesMetadata } = this.behaviour;
    const place = namesMetadata
      ? `resource_metadata="${this.origin}/.well-known/oauth-protected-resource/mcp"`
      : 'realm="mcp"';
    const scope = this.#access.get((headers.authorization ?? '').replace(/^Bearer /, ''));
    if (scope === undefined) {
      const wanted = challengeScope === undefined ? '' : `, scope="${challengeScope}"`;
      response.writeHead(401, { 'www-authenticate': `Bearer ${place}${wanted}` }).end();
      return;
    }
    const message = body === '' ? {} : JSON.parse(body);
    const wants = message.method === 'tools/call' ? callScope : undefined;
    if (wants !== undefined && !scope.split(' ').includes(wants)) {
      const challenge = `Bearer error="insufficient_scope", scope="${wants}", ${place}`;
      response.writeHead(403, { 'www-authenticate': challenge }).end();
      return;
    }
    if (message.id === undefined) return void response.writeHead(202).end();
    json(response, 200, { jsonrpc: '2.0', id: message.id, result: resultOf(message) });
  }
}

function resultOf(message: { method: string; params?: { protocolVersion?: string } }): unknown {
  if (message.method === 'initialize') {
    return {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'guarded', version: '1.0.0' },
    };
  }
  if (message.method === 'tools/list') {
    return { tools: [{ name: 'greet', inputSchema: { type: 'object' } }] };
  }
  return { content: [{ type: 'text', text: 'hello' }] };
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
