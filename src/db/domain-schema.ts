import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { createdAt, flag, id, time } from './columns.ts'
import { environments } from './schema.ts'
import { services } from './service-schema.ts'

/** Where the certificate of a host comes from: Caddy requests it, the user uploaded it, or there is none. */
export const httpsKinds = ['auto', 'off', 'own'] as const

/** How the edge speaks to an app: `h2c` is HTTP/2 without TLS, which gRPC needs. */
export const appProtocols = ['http', 'h2c'] as const

/** A user of an address with basic authentication; the hash is bcrypt's. */
export type DomainAccount = { username: string; hash: string }

/** Domains of environments and services. */
export const domains = sqliteTable(
  'domains',
  {
    id: id(),
    /** One of the two. */
    environmentId: text().references(() => environments.id, { onDelete: 'cascade' }),
    serviceId: text().references(() => services.id, { onDelete: 'cascade' }),
    /** The first one is what the address of its environment or service begins with. */
    position: integer().notNull(),
    /** Lower case, in ASCII, without a dot at its end. */
    host: text().notNull(),
    /** `/`, or a prefix such as `/api`. */
    path: text().notNull().default('/'),
    /** Of a service: which of its components, and the port there. Null: what it publishes first. */
    component: text(),
    port: integer(),
    protocol: text({ enum: appProtocols }).notNull().default('http'),
    /** An address that visitors are sent to instead. */
    redirectTo: text(),
    https: text({ enum: httpsKinds }).notNull().default('auto'),
    /** PEM; of `own` only. */
    certificate: text(),
    /** Sealed PEM; of `own` only. */
    certificateKey: text(),
    /** HSTS. */
    hsts: flag().notNull().default(false),
    /** Empty: everyone. */
    accounts: text({ mode: 'json' }).$type<DomainAccount[]>().notNull().default([]),
    /** CIDRs. Empty: all. */
    allowIps: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
    /** Of each response. */
    headers: text({ mode: 'json' }).$type<Record<string, string>>().notNull().default({}),
    /** MiB of a request. Null: any. */
    maxBody: integer(),
    /** Visitors see a page that says so. */
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

/** What is known of the DNS and the certificate of a host, whoever's it is. */
export const certificates = sqliteTable('certificates', {
  host: text().primaryKey(),
  /** Addresses that its name resolves to. */
  dnsFound: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
  /** Whether they are this server's; null where that isn't known. */
  dnsOk: flag(),
  /** `waiting` is one that isn't requested yet, since its name leads elsewhere. */
  status: text({ enum: certificateStatuses }).notNull().default('waiting'),
  issuer: text(),
  notAfter: time(),
  errorMessage: text(),
  errorHint: text(),
  checkedAt: time(),
  /** Attempts in a row that failed. */
  failures: integer().notNull().default(0),
  nextTryAt: time(),
})
