import { runSubcommands } from './subcommands.js';

/** `portcullis plugin validate`: for authors of plugins, and for whoever is about to use one. */
export const run = runSubcommands('plugin', [
  {
    name: 'validate',
    help: '<dirs>     what plugins would bring to a session, and what is wrong with them',
    load: () => import('./plugin-validate.js'),
  },
]);
