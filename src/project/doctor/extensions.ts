import { shellWord } from '../../lib/text/shell-word.js';
import { stdioRequest } from '../../mcp/transport/stdio.js';
import { displayPath } from '../../platform/fs/paths.js';
import { hostFacts } from '../../platform/host.js';
import type { Finding } from '../documents.js';
import { findProgram } from '../find-program.js';
import type { ServerDeclaration } from '../mcp/mcp.js';
import { serverStatuses } from '../mcp/mcp-connections.js';
import type { Project } from '../project.js';
import { type AreaCheck, type DoctorCheck, ok, problem, warning } from './report.js';
import { configChecks, counted } from './settings.js';

/** Checks that each MCP server may be used and its program exists; with `connect`, that it answers. */
export const checkServers: AreaCheck = async (project, { connect }) => {
  const { configuration } = await project.mcp();
  const { servers, hidden, problems } = configuration;
  const ready = servers.filter(({ standing }) => standing.kind === 'ready');
  const waiting = [...servers, ...hidden].filter(({ standing }) => standing.kind !== 'ready');
  const checks = [
    ...configChecks(problems, project.cwd),
    ...waiting.map(standingCheck),
    ...(connect
      ? await connectionChecks(project)
      : await Promise.all(ready.map((server) => serverCheck(project, server)))),
  ];
  return checks.length === 0 ? [ok('No MCP servers.')] : checks;
};

function standingCheck({ name, scope, standing }: ServerDeclaration): DoctorCheck {
  if (standing.kind === 'ready') return ok(`${name} (${scope})`);
  const message = `${name} (${scope}): ${standing.reason}`;
  const word = shellWord(name);
  switch (standing.kind) {
    case 'pending-approval':
      return warning(message.split(';')[0] ?? '', `Review it with: portcullis mcp approve ${word}`);
    case 'disabled':
      return ok(message);
    case 'blocked':
    case 'not-configured':
      return warning(message, `portcullis mcp get ${word} shows its entry.`);
    case 'invalid':
      return problem(message, `Correct its entry: portcullis mcp get ${word} shows it.`);
  }
}

async function serverCheck(project: Project, server: ServerDeclaration): Promise<DoctorCheck> {
  const { name, scope, entry, origin } = server;
  const { file } = origin;
  const where = file === undefined ? scope : `${scope}, ${displayPath(file, project.cwd)}`;
  if (entry?.type !== 'stdio') return ok(`${name} (${where}): ${entry?.type}, not connected`);
  const { env } = await project.settings();
  const request = stdioRequest(name, entry, { env, cwd: project.cwd });
  const host = { fs: project.places.fs, isWindows: hostFacts().os === 'win32' };
  const path = request.env.PATH;
  const found = await findProgram(host, entry.command, { path, cwd: project.cwd });
  const title = `${name} (${where}): ${entry.command}`;
  if (found.kind === 'found') return ok(`${title}, not connected`);
  if (found.kind === 'missing') {
    return problem(`${title} was not found in ${path}`, 'Install it, or correct the entry.');
  }
  return problem(`${title} is not executable.`, `Run: chmod +x ${found.file}`);
}

async function connectionChecks(project: Project): Promise<readonly DoctorCheck[]> {
  const opened = await project.sessionParts({
    entrypoint: 'portcullis-doctor',
    asksModel: false,
    emit: () => undefined,
  });
  const rows = await serverStatuses(opened, []);
  return rows.flatMap(({ name, status, error, tools, changed, saysOther, log }) => {
    const word = shellWord(name);
    if (status === 'needs-auth') {
      return [warning(`${name} needs a sign-in.`, `Run: portcullis mcp auth ${word}`)];
    }
    if (status === 'failed') {
      const remedy =
        log === undefined ? `portcullis mcp status ${word} shows more.` : `Read ${log}`;
      return [problem(error ?? `${name} did not connect.`, remedy)];
    }
    if (status !== 'connected') return [];
    const connected = ok(`${name} connected: ${counted(tools?.length ?? 0, 'tool')}`);
    if (changed.length === 0 && !saysOther) return [connected];
    const remedy = `Review them with: portcullis mcp approve ${word} --tools`;
    return [
      connected,
      warning(`${name} has changed definitions since they were approved.`, remedy),
    ];
  });
}

/** Above this share of the model's window instructions crowd out the work. */
const LARGE_SHARE = 0.1;

/** Checks which instruction files the model is shown, how large they are, and includes that fail. */
export const checkInstructions: AreaCheck = async (project) => {
  const { cwd } = project;
  const { report } = await project.context({ headless: true });
  const { loaded, skipped, tokens } = report.instructions;
  const shown = loaded.map((file) =>
    ok(`${displayPath(file.path, cwd)}, about ${file.tokens.toLocaleString('en-US')} tokens`),
  );
  const isLarge = tokens > report.window * LARGE_SHARE;
  return [
    ...(shown.length === 0
      ? [warning('No instruction files.', 'Write a first one with: portcullis init')]
      : shown),
    ...(isLarge
      ? [
          warning(
            `Instructions take ${tokens.toLocaleString('en-US')} of ${report.window.toLocaleString('en-US')} tokens.`,
            'Shorten them, or move parts into rules with paths (docs/instructions.md).',
          ),
        ]
      : []),
    ...skipped.flatMap(({ path, parent, reason, kind, realPath, declined, warn }) => {
      if (declined === true || (!warn && parent === undefined)) return [];
      const by = parent === undefined ? '' : `, included by ${displayPath(parent, cwd)},`;
      const message = `${displayPath(path, cwd)}${by} was not read: ${reason.split(';')[0]}`;
      const remedy =
        kind === 'external'
          ? `Allow it with: portcullis context approve ${shellWord(realPath ?? path)}`
          : 'Add the file, or remove the line that includes it.';
      return [warning(message, remedy)];
    }),
  ];
};

/** Checks skills and agent definitions by their own validators. */
export const checkDocuments: AreaCheck = async (project) => {
  const skills = await (await project.skills()).validate([]);
  const agents = await (await project.agents()).validate([]);
  const checks = [...skills.findings, ...agents.findings].map((one) =>
    findingCheck(one, project.cwd),
  );
  const number = [counted(skills.files.length, 'skill'), counted(agents.agents, 'agent')];
  return [ok(number.join(', ')), ...checks];
};

function findingCheck({ severity, place, line = 1, message }: Finding, cwd: string): DoctorCheck {
  const text = `${displayPath(place, cwd)}:${line}: ${message}`;
  return (severity === 'error' ? problem : warning)(text, 'Correct the file.');
}
