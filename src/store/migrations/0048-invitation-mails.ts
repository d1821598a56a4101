import type { Migration } from '../migration.ts';

/** Without `mail_status`, no mail was sent. */
export const invitationMails: Migration = {
  name: 'invitation-mails',
  sql: `
    ALTER TABLE invitations ADD COLUMN mail_status TEXT CHECK (mail_status IN ('sending', 'sent', 'failed'));
    ALTER TABLE invitations ADD COLUMN mail_failure TEXT;
  `,
};
