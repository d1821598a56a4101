import type { IconName } from '../../ui/icon.tsx';

/** Something that the search finds. */
export interface PaletteEntry {
  /** Identifies it among all entries, also later. */
  readonly id: string;
  readonly label: string;
  readonly detail?: string | undefined;
  readonly icon: IconName;
  /** Other words by which it is found. */
  readonly also?: string | undefined;
  /** Leads to a page. Those of the documentation open in a tab of their own. */
  readonly href?: string;
  readonly run?: () => void;
  /** True when `run` leaves the page. */
  readonly leaves?: boolean;
}

export interface PaletteGroup {
  readonly title: string;
  readonly entries: readonly PaletteEntry[];
}
