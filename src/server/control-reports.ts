import { costText } from '../client/commands/reports.js';
import { VERSION } from '../version.js';
import { contextUsage } from './context-usage.js';
import { CONTRACT_VERSION } from './contract-version.js';
import { ControlError, type Handler } from './control-request.js';
import { hooksListing } from './hooks-listing.js';
import { commandRow } from './initialize.js';

/** Requests that only want to know something. */
export const REPORT_HANDLERS: Readonly<Record<string, Handler>> = {
  get_binary_version: () => ({
    response: { version: CONTRACT_VERSION, portcullis_version: VERSION },
  }),
  async get_settings(handling) {
    return { response: (await handling.open({})).inspect.settings() };
  },
  async list_permission_rules(handling) {
    return { response: { state: (await handling.open({})).inspect.rules() } };
  },
  async get_hooks_listing(handling) {
    const session = await handling.open({});
    return { response: hooksListing(session.hooks(), session.inspect.settings()) };
  },
  async list_models(handling) {
    return { response: { models: (await handling.open({})).info().models } };
  },
  async get_context_usage(handling) {
    const session = await handling.open({});
    const [report, agents] = await Promise.all([session.context(), session.requests.agents()]);
    const { lastUsage } = handling.totals;
    const isAutoCompactEnabled = session.requests.compactsByItself();
    return { response: contextUsage(report, { agents, lastUsage, isAutoCompactEnabled }) };
  },
  async get_usage(handling) {
    const { modelUsage, cost } = (await handling.open({})).accounts();
    return {
      response: {
        session: {
          total_cost_usd: cost.knownUsd,
          total_api_duration_ms: handling.totals.apiMs,
          total_duration_ms: handling.totals.durationMs,
          total_lines_added: handling.totals.linesAdded,
          total_lines_removed: handling.totals.linesRemoved,
          model_usage: modelUsage,
          ...(cost.unknownModels.length === 0 ? {} : { cost_unknown_for: cost.unknownModels }),
        },
        subscription_type: null,
        rate_limits_available: false,
        rate_limits: null,
        behaviors: null,
      },
    };
  },
  async get_session_cost(handling) {
    return { response: { text: costText((await handling.open({})).accounts()) } };
  },
  async reload_skills(handling) {
    const { requests } = await handling.open({});
    await requests.reloadSkills();
    const names = new Set(await requests.skills());
    const commands = await requests.commands({ fresh: true });
    return {
      response: { skills: commands.filter(({ name }) => names.has(name)).map(commandRow) },
    };
  },
  async reload_output_styles(handling) {
    const { requests } = await handling.open({});
    return { response: { available_output_styles: await requests.outputStyles() } };
  },
  reload_plugins() {
    throw new ControlError(
      'unsupported_request',
      'plugins are read when a session starts, and not again',
    );
  },
};
