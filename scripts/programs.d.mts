export type ProgramName =
  | 'bwrap'
  | 'chromium'
  | 'curl'
  | 'fish'
  | 'git'
  | 'openssl'
  | 'perl'
  | 'postgres'
  | 'python3'
  | 'tmux'
  | 'zsh';
export function findProgram(name: ProgramName): string | undefined;
