/** The token of the invitation that a page is for. @param path of the page */
export function invitationTokenOf(path: string): string | undefined {
  return /^\/dashboard\/invitations\/(\w+)(?:[?#]|$)/.exec(path)?.[1];
}
