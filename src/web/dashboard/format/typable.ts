/** Leaves out of a name what a field or a label does not show, such as line ends and further spaces. */
export function typable(name: string): string {
  return name
    .normalize()
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim();
}
