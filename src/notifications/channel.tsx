import { z } from 'zod'
import { originOf } from '../config.ts'
import type { Config } from '../config.ts'
import { newId } from '../db/new-id.ts'
import { channels, eventKinds } from '../db/schema.ts'
import { listOwnProjects } from '../git/store.ts'
import { AppError, Failure, invalidField } from '../platform/errors.ts'
import { rowJson } from '../resources/json.ts'
import { resource } from '../resources/resource.ts'
import { deleteRow } from '../resources/store.ts'
import type { User } from '../web/factory.ts'
import { line, lines, unless } from '../web/fields.ts'
import { Button } from '../web/form.tsx'
import { kindForm } from '../web/kind-form.ts'
import { lineField, optionsOf, timeFields } from '../web/labelled-fields.ts'
import { componentOf, time } from '../web/operation.ts'
import { field } from '../web/schema-fields.tsx'
import { Badge } from '../web/status-badge.tsx'
import { Ago } from '../web/times.tsx'
import { counted } from '../web/units.ts'
import { userOf } from '../web/user-of.ts'
import { addRecipients, getLastDelivery } from './channel-store.ts'
import type { Channel } from './channel-store.ts'
import { sendTo } from './deliver.ts'
import type { DeliverDeps } from './deliver.ts'
import { kindNames, serverKinds, usualKinds } from './kinds.ts'
import type { Outbox } from './outbox.ts'
import { whyNotQuiet } from './quiet.ts'
import { sealed, senders, sentTo } from './senders/index.ts'
import { asTested } from './senders/sender.ts'
import { newSecret } from './senders/webhook.ts'

type ChannelDeps = DeliverDeps & { outbox: Outbox }

const path = '/settings/channels'

/** Milliseconds for a test: a page waits for it. */
const testTimeout = 12_000

const delivered = componentOf('LastDelivery', () => ({
  status: z.string(),
  answer: z.string().nullable(),
  at: time,
}))

const tested = componentOf('ChannelTest', () => ({ answer: z.string() }))

const json = rowJson(
  'Channel',
  channels,
  [
    ...(['kind', 'name', 'quiet', 'zone', 'url', 'host', 'port', 'security', 'trust'] as const),
    ...(['username', 'from', 'topic', 'chat', 'room', 'accountMail'] as const),
  ],
  () => ({
    events: z.array(z.enum(eventKinds)),
    projects: z.array(z.uuid()).nullable(),
    to: z.array(z.string()).nullable(),
    lastDelivery: delivered().nullable(),
  }),
)

const choices = () => ({
  quiet: field(
    line('hours such as 22:00-07:00', { max: 11 }).superRefine(unless(whyNotQuiet)).nullish(),
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

const channelForm = (config: Config) =>
  kindForm(
    config,
    { name: lineField('Name', { max: 60, placeholder: 'team chat' }) },
    { ...senders, browser },
    choices(),
  )

export const channel = resource({
  kind: 'channel',
  path,
  title: 'Channels',
  part: 'Notifications',
  table: channels,
  owner: channels.ownerId,
  most: 'channels',
  sealed,
  sentTo,
  neverSent: ['secret'],
  json,
  about: (
    <>
      Where Davit notifies you when something fails, and when it works again. What happened is also
      in the <a href="/settings/events">list of events</a>.
    </>
  ),
  empty: 'Add one to hear of failures by mail, in a chat or in this browser.',
  see: ({ db }: ChannelDeps, row) => {
    const last = getLastDelivery(db, row.id)
    const at = last && (last.sentAt ?? last.createdAt)
    return {
      ...row,
      lastDelivery: last ? { status: last.status, answer: last.answer, at: at! } : null,
      projectNames: listOwnProjects(db, row.ownerId)
        .filter(({ id }) => row.projects?.includes(id))
        .map(({ name }) => name),
    }
  },
  row: ({ kind, events, projects, projectNames, quiet, zone, accountMail, lastDelivery }) => ({
    facts: [
      events.length === 1 ? kindNames[events[0]!] : counted(events.length, 'kind') + ' of events',
      projects && (projectNames.join(', ') || 'only of projects that no longer exist'),
      quiet && `quiet ${quiet} ${zone}`,
      accountMail && 'sends invitations and password resets',
      lastDelivery ? (
        <>
          {lastDelivery.status === 'sent' ? 'sent' : <Badge {...bad} />}{' '}
          <Ago at={lastDelivery.at} />
          {lastDelivery.status !== 'sent' && lastDelivery.answer && `: ${lastDelivery.answer}`}
        </>
      ) : (
        'nothing sent yet'
      ),
    ],
    actions: kind === 'browser' && (
      <Button type="button" variant="outline" small data-notices>
        Allow in this browser
      </Button>
    ),
  }),
  create: {
    verb: 'Add',
    note: '; a secret that Davit creates is shown only once',
    schema: () => json().extend({ secret: z.string().optional() }),
    form: ({ config }: ChannelDeps) => channelForm(config),
    options: ({ db }, c) => ({
      events: eventsFor(userOf(c)),
      projects: optionsOf(listOwnProjects(db, userOf(c).id)),
    }),
    async check({ db, outbox }, input, { row, isAdmin, isToken }) {
      const accountMail = 'accountMail' in input && input.accountMail
      if (accountMail && !row?.accountMail && !isAdmin)
        throw invalidField('accountMail', 'can only be set by an admin.')
      if (isToken && (accountMail || row?.accountMail)) throw notByToken()
      if (row) {
        addRecipients(db, row, 'to' in input ? input.to : [])
        outbox.retryNow(row.id)
      }
      const projects = input.projects?.length ? [...new Set(input.projects)] : null
      const columns = { events: [...new Set(input.events)], projects }
      if (row || input.kind !== 'webhook' || input.secret) return { columns }
      const secret = newSecret()
      const once = { text: secret, what: 'the secret', says: keepSecret }
      return { columns: { ...columns, secret }, extra: { secret }, once }
    },
    details: ({ kind }) => ({ kind }),
  },
  change: {},
  acts: {
    test: {
      button: 'Send test',
      note: 'Send a test message to a channel',
      json: tested,
      async run(deps, _, row) {
        const answer = await sendTest(deps, row)
        deps.outbox.retryNow(row.id)
        const said =
          row.kind === 'browser' ? `Test: ${answer}.` : `Test sent. The response: ${answer}.`
        return { said, json: () => ({ answer }) }
      },
    },
  },
  remove: {
    verb: 'Remove',
    warning: 'What waits for it isn’t sent, and its deliveries are deleted.',
    run({ db }, row, { isToken }) {
      if (isToken && row.accountMail) throw notByToken()
      deleteRow(db, channels, row.id, 'channel')
    },
  },
})

/** Whoever gets the mails of accounts can log in as anyone, which no token may. */
const notByToken = () =>
  new AppError(
    'forbidden',
    'API tokens can’t change who sends password resets. Log in in a browser.',
  )

/** Of the server only admins are told. */
const eventsFor = ({ role }: Pick<User, 'role'>) =>
  (Object.keys(kindNames) as Channel['events'])
    .filter((kind) => role === 'admin' || !serverKinds.includes(kind))
    .map((value) => ({ value, label: kindNames[value] }))

async function sendTest(deps: ChannelDeps, row: Channel) {
  const message = {
    ...({ id: newId(), at: new Date(), kind: 'test', level: 'info', todo: null } as const),
    title: 'A test from Davit',
    text: `The channel ${row.name} works.`,
    url: `${originOf(deps.config)}${path}`,
  }
  try {
    return (await sendTo(deps, row, message, AbortSignal.timeout(testTimeout))).answer
  } catch (sent) {
    const error = asTested(sent)
    if (error instanceof Failure)
      throw new AppError('bad_gateway', [error.message, error.hint].filter(Boolean).join(' '))
    if (error instanceof DOMException)
      throw new AppError('bad_gateway', 'The receiver didn’t respond in time.')
    throw error
  }
}

const bad = { word: 'Not sent', tone: 'bad', icon: 'x' } as const

const keepSecret =
  'The receiver checks with it that messages are from Davit. It is shown only once.'
