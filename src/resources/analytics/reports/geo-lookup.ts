import { createRequire } from 'node:module';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/logger.ts';
import { unmappedAddress } from '../../../shared/network/unmapped-address.ts';

/** ISO 3166-1 alpha-2; `''` if unknown. */
interface GeoLocation {
  readonly country: string;
  readonly continent: string;
}

/** `AZ` is Oceania. */
export const continentCodes = ['AS', 'AF', 'NA', 'SA', 'AN', 'EU', 'AZ'] as const;

interface GeoRecord {
  readonly country_code?: unknown;
  readonly country?: { readonly iso_code?: unknown };
}

interface GeoReader {
  get(address: string): GeoRecord | null;
}

const unknownLocation: GeoLocation = { country: '', continent: '' };

export class GeoLookup {
  readonly #path: string | undefined;
  readonly #log: Logger;
  #loading: Promise<void> | undefined;
  #reader: GeoReader | undefined;
  #continents: Readonly<Record<string, { readonly continent: string }>> = {};

  constructor(path: string | undefined, log: Logger) {
    this.#path = path;
    this.#log = log;
  }

  /** Logs a warning when the file cannot be read; then all locations are unknown. */
  load(): Promise<void> {
    this.#loading ??= this.#open();
    return this.#loading;
  }

  /** True after {@link load} when the file could be read. */
  get isAvailable(): boolean {
    return this.#reader !== undefined;
  }

  locate(address: string): GeoLocation {
    let record: GeoRecord | null | undefined;
    try {
      record = this.#reader?.get(unmappedAddress(address).replace(/%.*$/, ''));
    } catch {
      // An unreadable record has no location.
    }
    const code = record?.country_code ?? record?.country?.iso_code;
    if (typeof code !== 'string' || !/^[A-Z]{2}$/.test(code)) return unknownLocation;
    return { country: code, continent: this.#continentOf(code) };
  }

  async #open(): Promise<void> {
    const path =
      this.#path ??
      createRequire(import.meta.url).resolve(
        '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb',
      );
    try {
      const [{ open }, { countries }] = await Promise.all([import('maxmind'), import('countries-list')]);
      this.#continents = countries;
      this.#reader = (await open(path)) as unknown as GeoReader;
    } catch (error) {
      this.#log.warn('places-unknown', { path, reason: messageOf(error) });
    }
  }

  #continentOf(country: string): string {
    if (!Object.hasOwn(this.#continents, country)) return '';
    const { continent } = this.#continents[country]!;
    return continent === 'OC' ? 'AZ' : continent;
  }
}
