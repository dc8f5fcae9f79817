/** The public test kit: everything that Portcullis uses to test itself offline. */
export { modelClientContract } from './contracts/model-client.js';
export { sessionStoreContract } from './contracts/session-store.js';
export { transcriptStoreContract } from './contracts/transcript-store.js';
export { FakeModel } from './fake-model.js';
export {
  type FakeModelServer,
  type FakeModelServerOptions,
  type RecordedRequest,
  startFakeModelServer,
} from './fake-model-server.js';
export { runScenario, type Scenario, type ScenarioRun, type ScenarioWorld } from './scenario.js';
export {
  makeTempProject,
  type ProjectEntry,
  type ProjectFiles,
  type TempProject,
} from './temp-project.js';
