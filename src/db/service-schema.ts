import { integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { firstServer } from '../platform/root.ts'
import { owner, users } from './account-schema.ts'
import { childOf, createdAt, flag, id, time } from './columns.ts'

export const serviceStatuses = [
  'pulling',
  'creating',
  'starting',
  'running',
  'unhealthy',
  'stopped',
  'failed',
] as const

/** Instances of the catalogue. */
export const services = sqliteTable(
  'services',
  {
    id: id(),
    ownerId: owner(),
    name: text().notNull(),
    /** The name by which linked apps reach it; null in an older row, until a start fills it. */
    host: text(),
    /** Name of the template, or `compose` for a user's own file. */
    template: text().notNull(),
    /** Tag of the main image. */
    version: text().notNull(),
    status: text({ enum: serviceStatuses }).notNull().default('pulling'),
    /** Null for the server that Davit runs on. Its volumes stay where they are (`workloads.pinnedTo`). */
    placement: text({ mode: 'json' }).$type<{ server: string }>(),
    /** The Compose file as it was when the instance was created: a changed template changes no instance. */
    compose: text().notNull(),
    /** The sealed values of its variables, as JSON. Generated ones are created once and never change. */
    values: text().notNull(),
    /** The sealed values that no log may show, as JSON; null in an older row, until a start fills it. */
    secretValues: text(),
    /** What an admin allowed this instance beyond what templates may have: host paths, privileges. */
    allowed: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
    /** The admin who allowed it for the current file: it counts as long as they are an admin. */
    allowedBy: text().references(() => users.id, { onDelete: 'set null' }),
    /** The preview that it was made for: after that was deleted, so is it, with its data. Null after it was linked elsewhere. */
    previewId: text(),
    errorStep: text(),
    errorCode: text(),
    errorMessage: text(),
    errorHint: text(),
    /** Set while its containers, network and files are being removed. */
    deletingAt: time(),
    deletingVolumes: flag().notNull().default(false),
    createdAt: createdAt(),
  },
  (t) => [
    uniqueIndex('service_name_per_owner').on(t.ownerId, t.name),
    uniqueIndex('service_host_per_owner').on(t.ownerId, t.host),
  ],
)

export const servicePorts = sqliteTable('service_ports', {
  port: integer().primaryKey(),
  /** The first one is the instance's address. */
  position: integer().notNull(),
  serviceId: childOf(() => services.id),
  /** The service in the Compose file, and its port. */
  target: text().notNull(),
  containerPort: integer().notNull(),
  /** With `both`, one port of the container is published for TCP and UDP. */
  protocol: text({ enum: ['tcp', 'udp', 'both'] }).notNull(),
})

export const registries = sqliteTable(
  'registries',
  {
    id: id(),
    ownerId: owner(),
    /** As image references name it: `registry.example.com:5000`. */
    host: text().notNull(),
    username: text().notNull(),
    /** Sealed. */
    password: text().notNull(),
    createdAt: createdAt(),
  },
  (t) => [uniqueIndex('registry_host_per_owner').on(t.ownerId, t.host)],
)

/** Images that were pulled with a login, each with its owner and its name on the engine. */
export const givenImages = sqliteTable(
  'given_images',
  {
    id: id(),
    ownerId: owner(),
    /** As its owner names it, in full: `registry.example.com/team/app:1`. */
    reference: text().notNull(),
    /** Such as `linux/arm64`; empty for the engine's own. */
    platform: text().notNull().default(''),
    /** The registry's digest when it was pulled. */
    digest: text().notNull(),
    /** The one whose Docker has it. */
    serverId: text().notNull().default(firstServer),
    /** Random, so that no one else can name it. */
    name: text().notNull(),
    /** Set from before the pull until the engine has it only under its own name. */
    publicName: text(),
    createdAt: createdAt(),
  },
  (t) => [uniqueIndex('given_image_per_owner').on(t.ownerId, t.reference, t.platform, t.serverId)],
)

/** Images that a registry has served without a login. */
export const publicImages = sqliteTable('public_images', {
  /** With its repository: `ghcr.io/team/app@sha256:…`. */
  digest: text().primaryKey(),
  createdAt: createdAt(),
})
