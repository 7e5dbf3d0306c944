import type { Context } from 'hono'
import { z } from 'zod'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { listOwnProjects } from '../git/store.ts'
import { AppError, invalidField } from '../platform/errors.ts'
import type { Env } from '../web/factory.ts'
import { Checkboxes } from '../web/fields-view.tsx'
import { line, lines } from '../web/fields.ts'
import { kindForm } from '../web/kind-form.ts'
import { lineField, timeFields } from '../web/labelled-fields.ts'
import { field } from '../web/schema-fields.tsx'
import { userOf } from '../web/user-of.ts'
import { isAdminNow } from './channel-store.ts'
import type { Channel } from './channel-store.ts'
import { kindNames, serverKinds, usualKinds } from './kinds.ts'
import { whyNotQuiet } from './quiet.ts'
import { senders } from './senders/index.ts'
import { eventKinds } from './store.ts'

const choices = () => ({
  events: lines(z.enum(eventKinds, 'must be kinds of events.'), { max: eventKinds.length }).refine(
    (kinds) => kinds.length > 0,
    'must have at least one.',
  ),
  projects: lines(z.uuid('must be ids of projects.'), { max: 500 }).nullish(),
  quiet: field(
    line('hours such as 22:00-07:00', { max: 11 })
      .superRefine((text, { addIssue }) => {
        const message = whyNotQuiet(text)
        if (message) addIssue({ code: 'custom', message })
      })
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

type ChoicesProps = {
  c: Context<Env>
  row: Channel | undefined
  projects: { id: string; name: string }[]
}

export const Choices = ({ c, row, projects }: ChoicesProps) => {
  const isAdmin = userOf(c).role === 'admin'
  const kinds = (Object.keys(kindNames) as Channel['events']).filter(
    (kind) => isAdmin || !serverKinds.includes(kind),
  )
  return (
    <>
      <Checkboxes
        name="events"
        label="Events"
        values={row?.events ?? usualKinds.filter((kind) => kinds.includes(kind))}
        options={kinds.map((value) => ({ value, label: kindNames[value] }))}
      />
      {projects.length > 0 && (
        <Checkboxes
          name="projects"
          label="Projects"
          hint="Select none for all of yours, services, logins and the server. With some, only what happens to these is sent."
          values={row?.projects ?? []}
          options={projects.map(({ id, name }) => ({ value: id, label: name }))}
        />
      )}
    </>
  )
}
