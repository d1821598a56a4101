/** Reads the page of a list from its address: the first for anything but a whole number. */
export function pageOf({ page = '' }: Readonly<Record<string, string>>): number {
  return /^[1-9]\d{0,5}$/.test(page) ? Number(page) : 1;
}
