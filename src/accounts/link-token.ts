import type { Secrets } from '../platform/secrets.ts'

/**
 * The secret of a link in a mail, of which the database has only the hash. It follows from the id, so that a mail
 * that is sent again after a kill has the same link. A file of its own: what stores links and what mails them
 * both need it.
 */
export const linkToken = (secrets: Secrets, id: string) => secrets.sign(`link of a mail ${id}`)
