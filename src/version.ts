declare const __PORTCULLIS_VERSION__: string | undefined;

/** Put in by the bundler; unbundled code (tests) has no version of its own. */
export const VERSION: string =
  typeof __PORTCULLIS_VERSION__ === 'string' ? __PORTCULLIS_VERSION__ : '0.0.0-dev';
