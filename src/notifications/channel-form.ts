import { z } from 'zod'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { listOwnProjects } from '../git/store.ts'
import { AppError, invalidField } from '../platform/errors.ts'
import type { User } from '../web/factory.ts'
import { line, lines, unless } from '../web/fields.ts'
import { kindForm } from '../web/kind-form.ts'
import { lineField, timeFields } from '../web/labelled-fields.ts'
import { field } from '../web/schema-fields.tsx'
import { isAdminNow } from './channel-store.ts'
import type { Channel } from './channel-store.ts'
import { kindNames, serverKinds, usualKinds } from './kinds.ts'
import { whyNotQuiet } from './quiet.ts'
import { senders } from './senders/index.ts'
import { eventKinds } from './store.ts'

const choices = () => ({
  quiet: field(
    line('hours such as 22:00-07:00', { max: 11 })
      .superRefine(unless(whyNotQuiet))
      .nullish(),
    {
      label: 'Quiet hours',
      placeholder: '22:00-07:00',
      hint: 'What happens meanwhile comes as a summary afterwards.',
      code: true,
      isNarrow: true,
    },
  ),
  zone: timeFields.zone,
  events: field(
    lines(z.enum(eventKinds, 'must be kinds of events.'), { max: eventKinds.length }).refine(
      (kinds) => kinds.length > 0,
      'must have at least one.',
    ),
    { label: 'Events', isMany: true, options: [], initial: usualKinds.join('\n') },
  ),
  projects: field(lines(z.uuid('must be ids of projects.'), { max: 500 }).nullish(), {
    label: 'Projects',
    hint: 'Select none for all of yours, services, logins and the server. With some, only what happens to these is sent.',
    isMany: true,
    options: [],
  }),
})

const browser = { label: 'Browser', fields: () => ({}) }

export const channelForm = (config: Config) =>
  kindForm(
    config,
    { name: lineField('Name', { max: 60, placeholder: 'team chat' }) },
    { ...senders, browser },
    choices(),
  )

type Chosen = {
  events: string[]
  projects?: string[] | null | undefined
  accountMail?: boolean
}

/** Of other users' projects and of the server only their owners and admins are told. */
export function refuseOthers(
  db: Db,
  { events, projects, accountMail }: Chosen,
  { ownerId, row, isToken }: { ownerId: string; row?: Channel | undefined; isToken: boolean },
) {
  const before: readonly string[] = row?.events ?? []
  const added = serverKinds.find((kind) => events.includes(kind) && !before.includes(kind))
  if (added && !isAdminNow(db, ownerId))
    throw invalidField('events', `can’t have ${added}, which is for admins.`)
  if (accountMail && !row?.accountMail && !isAdminNow(db, ownerId))
    throw invalidField('accountMail', 'can only be set by an admin.')
  if (isToken && (accountMail || row?.accountMail)) throw notByToken()
  const own = new Set(listOwnProjects(db, ownerId).map(({ id }) => id))
  const foreign = projects?.find((id) => !own.has(id) && !row?.projects?.includes(id))
  if (foreign) throw invalidField('projects', 'must be ids of your projects.')
}

/** Whoever gets the mails of accounts can log in as anyone, which no token may. */
export const notByToken = () =>
  new AppError(
    'forbidden',
    'API tokens can’t change who sends password resets. Log in in a browser.',
  )

/** The events that a user can be told of. */
export const eventsFor = ({ role }: Pick<User, 'role'>) =>
  (Object.keys(kindNames) as Channel['events'])
    .filter((kind) => role === 'admin' || !serverKinds.includes(kind))
    .map((value) => ({ value, label: kindNames[value] }))
