import type { PlaybackPolicy } from '../../api/api-types.ts';
import { countryName } from '../../format/countries.ts';
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
    allowedDomains: wordsOf(choices.allowedDomains),
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
        label="Allowed sites"
        rows={3}
        placeholder={'example.com\n*.example.com'}
        hint="One per line. Empty allows every site. Other sites can’t embed the player."
      />
      {choices.allowedDomains.trim() !== '' && (
        <CheckField
          field="allowNoReferrer"
          label="Allow players that send no site"
          hint="Such as native apps, and pages that are opened directly."
        />
      )}
      <CountryField
        field="allowedCountries"
        label="Allowed countries"
        hint="Without any, every country is allowed."
      />
      <CountryField field="blockedCountries" label="Blocked countries" />
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
        label="Own playback policy"
        hint={
          own === undefined
            ? 'The playback policy of this project says which sites and countries may play it.'
            : 'Replaces the playback policy of this project.'
        }
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
  allowedCountries,
  blockedCountries,
}: PlaybackPolicy): string {
  const parts = [
    ...(allowedDomains.length === 0 ? [] : [allowedDomains.join(', ')]),
    ...(allowedCountries.length === 0 ? [] : [`in ${allowedCountries.map(countryName).join(', ')}`]),
    ...(blockedCountries.length === 0 ? [] : [`not in ${blockedCountries.map(countryName).join(', ')}`]),
  ];
  return parts.length === 0 ? 'Everybody' : parts.join('; ');
}

function wordsOf(text: string): string[] {
  return text.split(/[\s,;]+/).filter(word => word !== '');
}
