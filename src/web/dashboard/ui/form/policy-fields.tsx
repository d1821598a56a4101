import type { PlaybackPolicy } from '../../api/api-types.ts';
import { countryName } from '../../format/countries.ts';
import { listText } from '../../format/list-text.ts';
import { t } from '../../texts/shell.ts';
import { CountryField } from './country-field.tsx';
import { CheckField, TextArea } from './field.tsx';
import { FieldValues } from './form-context.tsx';

export interface PolicyChoices {
  /** One per line. */
  readonly allowedDomains: string;
  readonly allowNoReferrer: boolean;
  readonly allowedCountries: readonly string[];
  readonly blockedCountries: readonly string[];
}

export function policyChoicesOf(policy: PlaybackPolicy | null | undefined): PolicyChoices {
  return {
    allowedDomains: policy?.allowedDomains.join('\n') ?? '',
    allowNoReferrer: policy?.allowNoReferrer ?? true,
    allowedCountries: policy?.allowedCountries ?? [],
    blockedCountries: policy?.blockedCountries ?? [],
  };
}

export function policyOf(choices: PolicyChoices): PlaybackPolicy {
  return {
    allowedDomains: sitesOf(choices.allowedDomains),
    allowNoReferrer: choices.allowNoReferrer,
    allowedCountries: [...choices.allowedCountries],
    blockedCountries: [...choices.blockedCountries],
  };
}

export function PolicyFields({
  choices,
  onChoices,
}: {
  choices: PolicyChoices;
  onChoices: (choices: PolicyChoices) => void;
}) {
  return (
    <FieldValues values={choices} onValues={onChoices} within="playbackPolicy">
      <TextArea
        field="allowedDomains"
        label={t('policy.sites')}
        rows={3}
        dir="ltr"
        placeholder={'example.com\n*.example.com'}
        hint={t('policy.sitesHint')}
      />
      {choices.allowedDomains.trim() !== '' && (
        <CheckField field="allowNoReferrer" label={t('policy.noSite')} hint={t('policy.noSiteHint')} />
      )}
      <CountryField field="allowedCountries" label={t('policy.countries')} hint={t('policy.countriesHint')} />
      <CountryField field="blockedCountries" label={t('policy.blocked')} />
    </FieldValues>
  );
}

/** Fields for the policy of one video or live stream. @param own undefined follows the project */
export function OwnPolicyFields({
  own,
  onOwn,
}: {
  own: PolicyChoices | undefined;
  onOwn: (own: PolicyChoices | undefined) => void;
}) {
  return (
    <>
      <CheckField
        label={t('policy.own')}
        hint={t(own === undefined ? 'policy.ofProject' : 'policy.replaces')}
        checked={own !== undefined}
        onValue={isOwn => onOwn(isOwn ? policyChoicesOf(null) : undefined)}
      />
      {own !== undefined && <PolicyFields choices={own} onChoices={onOwn} />}
    </>
  );
}

/** Summarizes a policy in a few words. */
export function describePolicy({
  allowedDomains,
  allowNoReferrer,
  allowedCountries,
  blockedCountries,
}: PlaybackPolicy): string {
  const parts = [
    ...(allowedDomains.length === 0
      ? []
      : [t(allowNoReferrer ? 'policy.onOrDirect' : 'policy.on', { sites: listText(allowedDomains) })]),
    ...(allowedCountries.length === 0
      ? []
      : [t('policy.in', { countries: listText(allowedCountries.map(countryName)) })]),
    ...(blockedCountries.length === 0
      ? []
      : [t('policy.notIn', { countries: listText(blockedCountries.map(countryName)) })]),
  ];
  return parts.length === 0 ? t('policy.everybody') : parts.join('; ');
}

/** Reduces pasted addresses of pages to their hosts. */
function sitesOf(text: string): string[] {
  const hosts = text
    .split(/[\s,;]+/)
    .map(word => word.replace(/^https?:\/\//i, '').replace(/(:\d+)?([/?#].*)?$/, ''));
  return [...new Set(hosts)].filter(host => host !== '');
}
