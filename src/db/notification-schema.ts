import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { sql } from 'drizzle-orm'
import { owner, users } from './account-schema.ts'
import { createdAt, flag, id, time } from './columns.ts'
import { environments, projects } from './project-schema.ts'
import { services } from './service-schema.ts'

export const eventKinds = [
  'deployment_failed',
  'deployment_recovered',
  'deployment_succeeded',
  'deployment_reverted',
  'crash_loop',
  'out_of_memory',
  'unhealthy',
  'backup_failed',
  'backup_overdue',
  'backup_unproven',
  'schedule_failed',
  'certificate_failing',
  'disk_low',
  'memory_low',
  'server_away',
  'davit_version',
  'login_new',
  'token_created',
  'admin_granted',
  'account_mail_failed',
] as const

export const eventLevels = ['info', 'warning', 'failure', 'resolved'] as const

/** What people may want to hear of. Each goes to the channels that chose its kind. */
export const events = sqliteTable(
  'events',
  {
    id: id(),
    kind: text({ enum: eventKinds }).notNull(),
    level: text({ enum: eventLevels }).notNull(),
    /** Whom it concerns; null for the server's, which all admins see. */
    ownerId: text().references(() => users.id, { onDelete: 'cascade' }),
    projectId: text().references(() => projects.id, { onDelete: 'cascade' }),
    environmentId: text().references(() => environments.id, { onDelete: 'cascade' }),
    serviceId: text().references(() => services.id, { onDelete: 'cascade' }),
    /** The name of what it happened to. */
    subject: text().notNull(),
    title: text().notNull(),
    text: text().notNull(),
    /** The next step to take; null when there is none. */
    todo: text(),
    /** A path of Davit. */
    href: text().notNull(),
    /** What goes bad and well again: one event until its end; null for what just happens. */
    of: text(),
    /** How often it happened until its end, and when last. */
    count: integer().notNull().default(1),
    lastAt: time().notNull(),
    endedAt: time(),
    createdAt: createdAt(),
  },
  (t) => [
    index('events_by_owner').on(t.ownerId, t.id),
    index('events_by_of').on(t.of, t.id),
    uniqueIndex('one_open_event')
      .on(t.of)
      .where(sql`ended_at IS NULL AND level <> 'resolved'`),
    // what is deleted looks for its events
    index('events_by_project').on(t.projectId),
    index('events_by_environment').on(t.environmentId),
    index('events_by_service').on(t.serviceId),
  ],
)

export const channelKinds = [
  'email',
  'webhook',
  'slack',
  'discord',
  'telegram',
  'ntfy',
  'gotify',
  'matrix',
  'pushover',
  'browser',
] as const

/** Where a user is told of events. Each kind has columns of its own. */
export const channels = sqliteTable(
  'channels',
  {
    id: id(),
    ownerId: owner(),
    kind: text({ enum: channelKinds }).notNull(),
    name: text().notNull(),
    events: text({ mode: 'json' }).$type<(typeof eventKinds)[number][]>().notNull(),
    /** Ids; null for all of the owner. */
    projects: text({ mode: 'json' }).$type<string[]>(),
    /** Such as `22:00-07:00`, in the time of an IANA zone; null for never. */
    quiet: text(),
    zone: text().notNull().default('UTC'),
    url: text(),
    /** Sealed, as are the next four. */
    webhookUrl: text(),
    secret: text(),
    token: text(),
    userKey: text(),
    password: text(),
    host: text(),
    port: integer(),
    security: text({ enum: ['starttls', 'tls', 'none'] }),
    trust: text({ enum: ['authorities', 'any'] }),
    username: text(),
    from: text(),
    to: text({ mode: 'json' }).$type<string[]>(),
    topic: text(),
    chat: text(),
    room: text(),
    /** It also sends what accounts need: invitations, password resets. */
    accountMail: flag(),
    createdAt: createdAt(),
  },
  (t) => [uniqueIndex('channel_name_per_owner').on(t.ownerId, t.name)],
)

/**
 * What is to be sent, stored in the transaction of what happened. It stays for the delivery log, but for a commit
 * status.
 */
export const outbox = sqliteTable(
  'outbox',
  {
    id: id(),
    kind: text({ enum: ['notice', 'commit_status', 'account_mail'] }).notNull(),
    ownerId: owner(),
    /** One at a time is sent of each: the id of the channel, the project, or what a mail is about. */
    lane: text().notNull(),
    eventId: text().references(() => events.id, { onDelete: 'cascade' }),
    channelId: text().references(() => channels.id, { onDelete: 'cascade' }),
    /** The deployment of a commit status. */
    subjectId: text(),
    status: text({ enum: ['waiting', 'sending', 'sent', 'failed', 'dropped'] })
      .notNull()
      .default('waiting'),
    /** Not before that; null for at once. */
    nextAt: time(),
    /** Failed attempts. */
    tries: integer().notNull().default(0),
    /** Of what is sent as one message: its id, the same at each attempt. */
    messageId: text(),
    /** An attempt may have arrived although Davit never heard so: it stopped, or no answer came. */
    uncertain: flag().notNull().default(false),
    /** Of an e-mail: the recipients who don't have it yet; null for all. */
    left: text({ mode: 'json' }).$type<string[]>(),
    /** What the receiver said, or why it wasn't sent. */
    answer: text(),
    createdAt: createdAt(),
    sentAt: time(),
  },
  (t) => [
    index('outbox_by_lane').on(t.status, t.lane, t.kind, t.ownerId, t.nextAt),
    index('outbox_by_turn').on(t.status, t.lane, t.id),
    index('outbox_by_event').on(t.eventId),
    index('outbox_by_channel').on(t.channelId, t.id),
    index('outbox_by_owner').on(t.ownerId),
    index('outbox_by_subject').on(t.subjectId),
  ],
)
