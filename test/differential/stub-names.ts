/** Programs that stand-ins take the place of; any other name is logged as not found. */
export const STUB_NAMES: readonly string[] = `
  awk base64 basename bash cargo cat chmod chown cmp cp curl cut date dd diff dirname docker du env file find
  git grep gzip head hostname id install ionice jq ln ls make mkdir mv nc nice node nohup npm npx nl od paste perl
  pip printenv python3 readlink realpath rev rg rm rmdir ruby rsync sed seq setsid sh sleep sort ssh stat stdbuf
  sudo tac tail tar tee timeout touch tr truncate uniq uname unlink watch wc wget which whoami xargs xxd yes zip
`
  .trim()
  .split(/\s+/);
