/** Returns the command `account` as the operator of this server types it. */
export function accountCommand(args: string): string {
  const command = document.getElementById('app')?.dataset.accountCommand ?? 'millrace account ARGUMENTS';
  return command.replace('ARGUMENTS', () => args);
}
