import { describe, expect, it } from 'vitest';
import { steersProgram } from './entry-text.js';

describe('variables that decide what a program runs', () => {
  it.each([
    'PATH',
    'LD_PRELOAD',
    'NODE_OPTIONS',
    'PYTHONPATH',
    'CORECLR_PROFILER',
    'COR_PROFILER_PATH',
    'JULIA_LOAD_PATH',
    'R_LIBS_USER',
    'ERL_FLAGS',
    'PSModulePath',
    'MAVEN_OPTS',
    'TS_NODE_PROJECT',
    'KUBECONFIG',
  ])('%s is one', (name) => {
    expect(steersProgram(name)).toBe(true);
  });

  it.each(['API_KEY', 'LANG', 'TZ', 'DATABASE_URL', 'R_TOKEN', 'CORE_COUNT', 'LOG_LEVEL'])(
    '%s is none',
    (name) => {
      expect(steersProgram(name)).toBe(false);
    },
  );
});
