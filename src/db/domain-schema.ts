import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { createdAt, flag, id, time } from './columns.ts'
import { environments } from './project-schema.ts'
import { services } from './service-schema.ts'

/** Caddy requests the certificate, there is none, or the user uploaded it. */
export const httpsKinds = ['auto', 'off', 'own'] as const

/** How the edge speaks to an app: `h2c` is HTTP/2 without TLS, which gRPC needs. */
export const appProtocols = ['http', 'h2c'] as const

/** A user for basic authentication; the hash is bcrypt's. */
export type DomainAccount = { username: string; hash: string }

export const domains = sqliteTable(
  'domains',
  {
    id: id(),
    /** One of the two. */
    environmentId: text().references(() => environments.id, { onDelete: 'cascade' }),
    serviceId: text().references(() => services.id, { onDelete: 'cascade' }),
    /** The first one is the primary address of its environment or service. */
    position: integer().notNull(),
    /** Lower case, in ASCII, without a trailing dot. */
    host: text().notNull(),
    /** `/`, or a prefix such as `/api`. */
    path: text().notNull().default('/'),
    /** A component of the service and its port. Null means the first port that the service publishes. */
    component: text(),
    port: integer(),
    protocol: text({ enum: appProtocols }).notNull().default('http'),
    /** An address that visitors are redirected to. */
    redirectTo: text(),
    https: text({ enum: httpsKinds }).notNull().default('auto'),
    /** PEM; only set for `own`. */
    certificate: text(),
    /** Sealed PEM; only set for `own`. */
    certificateKey: text(),
    hsts: flag().notNull().default(false),
    /** An empty list admits everyone. */
    accounts: text({ mode: 'json' }).$type<DomainAccount[]>().notNull().default([]),
    /** CIDRs; an empty list allows all. */
    allowIps: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
    /** Set on each response. */
    headers: text({ mode: 'json' }).$type<Record<string, string>>().notNull().default({}),
    /** MiB of a request; null for no limit. */
    maxBody: integer(),
    /** Visitors get a maintenance page. */
    maintenance: flag().notNull().default(false),
    createdAt: createdAt(),
  },
  (t) => [
    uniqueIndex('one_domain_per_place').on(t.host, t.path),
    index('domains_by_environment').on(t.environmentId, t.position),
    index('domains_by_service').on(t.serviceId, t.position),
  ],
)

export const certificateStatuses = ['waiting', 'pending', 'issued', 'failed'] as const
export type CertificateStatus = (typeof certificateStatuses)[number]

/** DNS and certificate of a host, for all its owners. */
export const certificates = sqliteTable('certificates', {
  host: text().primaryKey(),
  dnsFound: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
  /** True when they are this server's; null when unknown. */
  dnsOk: flag(),
  /** `waiting` isn't requested yet, because the name points elsewhere. */
  status: text({ enum: certificateStatuses }).notNull().default('waiting'),
  issuer: text(),
  notAfter: time(),
  errorMessage: text(),
  errorHint: text(),
  checkedAt: time(),
  /** Consecutive failed attempts. */
  failures: integer().notNull().default(0),
  nextTryAt: time(),
})
