import { locale } from '../state/texts.ts';
import { t } from '../texts/shell.ts';
import { withUnit } from './with-unit.ts';

const byteUnits = ['', 'KB', 'MB', 'GB', 'TB', 'PB'] as const;
const bitUnits = ['bit/s', 'kbit/s', 'Mbit/s', 'Gbit/s'] as const;

/** Formats a size in powers of 1000, with up to three digits. */
export function formatBytes(bytes: number): string {
  const power = powerOf(bytes, byteUnits.length);
  if (power === 0) return t('unit.bytes', { count: Math.round(bytes) });
  const value = bytes / 1000 ** power;
  return withUnit(formatNumber(value, digitsOf(value, power)), byteUnits[power]!);
}

export function formatBitrate(bitsPerSecond: number): string {
  const power = powerOf(bitsPerSecond, bitUnits.length);
  const value = bitsPerSecond / 1000 ** power;
  return withUnit(formatNumber(value, digitsOf(value, power)), bitUnits[power]!);
}

export function formatNumber(value: number, digits = 0): string {
  return new Intl.NumberFormat(locale(), { maximumFractionDigits: digits }).format(value);
}

export function formatPercent(percent: number, digits = 0): string {
  return new Intl.NumberFormat(locale(), { style: 'percent', maximumFractionDigits: digits }).format(
    percent / 100,
  );
}

function powerOf(value: number, units: number): number {
  let power = 0;
  // A value that would round up to 1000 belongs to the next unit.
  while (power < units - 1 && value >= 999.5 * 1000 ** power) power += 1;
  return power;
}

function digitsOf(value: number, power: number): number {
  return power === 0 || value >= 100 ? 0 : 1;
}
