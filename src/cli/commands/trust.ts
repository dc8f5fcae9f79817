import { PortcullisError } from '../../errors.js';
import { visible } from '../../lib/text/visible.js';
import { resolve } from '../../platform/fs/paths.js';
import { workingDirectory } from '../../platform/host.js';
import { openProject, type Project } from '../../project/project.js';
import {
  declarationLines,
  type TrustCheck,
  trustData,
  trustRequestText,
} from '../../project/trust.js';
import type { CommandCall, CommandSpec } from '../command.js';
import { EXIT } from '../exit-code.js';
import { confirmed, refuseAgent, YES_OPTION } from './person.js';
import { JSON_OPTION, printJson } from './project-call.js';

export const command: CommandSpec = {
  summary: 'Review and approve the hooks, servers and allow rules of a folder.',
  arguments: [{ name: '[folder]', description: 'Default: the working directory.' }],
  options: [
    { flags: '--list', description: 'List the folders that you trust.' },
    { flags: '--revoke', description: 'Stop trusting the folder.' },
    YES_OPTION,
    JSON_OPTION,
  ],
  async run(call) {
    const folder = resolve(workingDirectory(), call.args[0] ?? '.');
    const project = openProject(folder);
    if (call.options.list === true) return await list(call, project);
    if (call.options.revoke === true) return await revoke(call, project);
    if ((await project.places.fs.stat(folder))?.kind !== 'directory') {
      throw new PortcullisError('usage', `${visible(folder)} is not a folder`, {
        remedy: 'name a folder that exists: portcullis trust <folder>',
      });
    }
    return await accept(call, project);
  },
};

async function accept(call: CommandCall, { folderTrust }: Project): Promise<number> {
  const seen = await folderTrust.check();
  const root = visible(seen.root);
  const print = (text: string, now: TrustCheck = seen): void => {
    if (call.options.json === true) printJson(call, trustData(now));
    else call.output.out(text);
  };
  if (seen.verdict === 'nothing') print(`Nothing in ${root} needs trust.\n`);
  if (seen.verdict === 'trusted') {
    print(`${root} is trusted:\n${declarationLines(seen).join('\n')}\n`);
  }
  if (seen.verdict === 'nothing' || seen.verdict === 'trusted') return EXIT.done;
  if (call.options.json !== true || call.options.yes !== true) {
    print(trustRequestText(seen));
  }
  refuseAgent('trust');
  const isYes = await confirmed(call, 'Trust this folder?', {
    refused: 'not trusted',
    remedy: 'read the list above, then accept it with: portcullis trust --yes',
  });
  if (!isYes) {
    call.output.out('Not trusted.\n');
    return EXIT.error;
  }
  const { stored, refusal } = await folderTrust.accept(seen, { store: true });
  if (!stored) {
    throw new PortcullisError('config', `trust in ${root} cannot be kept: ${refusal}`, {
      remedy: 'start with --trust to accept it for one run',
    });
  }
  print(`Trusted: ${root}, until one of these changes.\n`, {
    ...seen,
    verdict: 'trusted',
    pending: [],
  });
  return EXIT.done;
}

async function list(call: CommandCall, { trustStore }: Project): Promise<number> {
  const records = await trustStore.list();
  if (call.options.json === true) {
    printJson(call, records);
    return EXIT.done;
  }
  if (records.length === 0) call.output.out('No folder is trusted.\n');
  for (const { root, acceptedAt, declarations } of records) {
    const since = acceptedAt === undefined ? 'answers only' : acceptedAt.slice(0, 10);
    call.output.out(`${visible(root)}  ${since}  ${declarations.length} declarations\n`);
  }
  return EXIT.done;
}

async function revoke(call: CommandCall, { folderTrust, trustStore }: Project): Promise<number> {
  const { root } = await folderTrust.check();
  const revoked = await trustStore.remove(root);
  if (call.options.json === true) call.output.out(`${JSON.stringify({ root, revoked })}\n`);
  else if (revoked) call.output.out(`No longer trusted: ${visible(root)}\n`);
  else call.output.out(`${visible(root)} was not trusted.\n`);
  return EXIT.done;
}
