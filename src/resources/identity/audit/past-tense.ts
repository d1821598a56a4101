const irregular: Readonly<Record<string, string>> = {
  Reset: 'Reset',
  Send: 'Sent',
  Set: 'Set',
  Undo: 'Undid',
  Write: 'Wrote',
};
const further: readonly (readonly [string, string])[] = [
  [' or replace ', ' or replaced '],
  [', or leave', ', or left'],
];

/** Tells that an action was done: "Create a video", the summary of an operation of the API, becomes "Created a video". */
export function pastTense(summary: string): string {
  const [verb = ''] = summary.split(' ');
  // An outcome, such as "Sign-in failed".
  if (verb.includes('-')) return summary;
  const past = irregular[verb] ?? verb.replace(/(?<=[^aeiou])y$/, 'i').replace(/e?$/, 'ed');
  return further.reduce(
    (text, [now, then]) => text.replace(now, then),
    `${past}${summary.slice(verb.length)}`,
  );
}
