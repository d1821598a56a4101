/**
 * Replaces a browser language that is not a valid tag, such as `C` of a system without locales. uPlot passes it to
 * `Intl.NumberFormat` while it loads, which would throw.
 *
 * **Source**: BCP 47; ECMA-402 6.2
 */
export function ensureValidLocale(): void {
  try {
    new Intl.NumberFormat(navigator.language);
  } catch {
    const { locale } = new Intl.NumberFormat().resolvedOptions();
    Object.defineProperty(navigator, 'language', { value: locale, configurable: true });
  }
}
