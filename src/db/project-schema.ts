import { integer, real, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Settings as BuildSettings } from '../detection/plan.ts'
import { gitSources, owner } from './account-schema.ts'
import { childOf, createdAt, flag, id, time } from './columns.ts'

/** As entered: a list of words, or a line that is split as a POSIX shell splits words. */
export type Command = string | string[]

/** Runs beside others in an environment. Null: the image's own command, or the environment's limit. */
export type Process = {
  name: string
  command: Command | null
  replicas: number
  memoryMb: number | null
  cpus: number | null
  /** Seconds between its stop signal and SIGKILL; 10 if absent. */
  stopSeconds?: number
  /** Runs an init as process 1; if absent, unless the image starts with one. */
  init?: boolean | undefined
}

/** A line of a Procfile whose command can be run, including `release`. */
export type ProcfileEntry = { name: string; command: string }

/** What the davit.yaml of a commit sets; a missing key is set elsewhere. */
export type CodeSettings = {
  /** Its name: `davit.yaml`, `davit.json` or `package.json`; with that of a Compose file, as it is shown. */
  file: string
  /** The paths of both from the repository's root, where it stands beside a Compose file. */
  files?: string[]
  settings: {
    build?: BuildSettings
    watchPaths?: string[]
    processes?: Process[]
    releaseCommand?: Command
    port?: number
    healthPath?: string
    healthTimeout?: number
    schedules?: CodeSchedule[]
  }
}

/** Runs a command at times; null for the default. */
export type CodeSchedule = {
  name: string
  command: Command
  schedule: string
  zone?: string | null | undefined
  overlap?: 'skip' | 'queue' | 'replace' | null | undefined
  missed?: 'skip' | 'once' | null | undefined
  timeout?: number | null | undefined
}

/** An environment's processes until someone changes them. */
const onlyWeb: Process = {
  name: 'web',
  command: null,
  replicas: 1,
  memoryMb: null,
  cpus: null,
}

/** How pull requests get environments of their own. */
export type PreviewSettings = {
  enabled: boolean
  /** At once. */
  max: number
  /** Days without a push after which one is deleted. */
  idleDays: number
  /** Of the environment that they are copies of. */
  services: 'fresh' | 'shared' | 'none'
  /** The keys of its variables that they get. */
  variables: string[]
  forks: 'never' | 'approve'
}

export const projects = sqliteTable(
  'projects',
  {
    id: id(),
    ownerId: owner(),
    name: text().notNull(),
    /** Empty for a project whose source is an image. */
    repositoryUrl: text().notNull(),
    /** The reference that its deployments pull, as it was entered; null when they build. Its tag may be a pattern. */
    image: text(),
    /** Asks the registry every few minutes whether the tag has moved; for a pattern it is always asked. */
    checkTag: flag().notNull().default(false),
    /** The source whose token clones it; `repository` is `owner/name` there. */
    sourceId: text().references(() => gitSources.id, { onDelete: 'set null' }),
    repository: text(),
    /** The provider's id of the webhook that Davit registered. */
    webhookId: text(),
    /** Globs: a push that touches no matching file deploys nothing. An empty list matches every push. */
    watchPaths: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
    /** The project's own OpenSSH key pair, for `git@` addresses; the private key is sealed. */
    deployKeyPublic: text(),
    deployKeyPrivate: text(),
    /** Null for the remote's HEAD. */
    branch: text(),
    /** Relative to the repository's root; null for `<contextDir>/Dockerfile`. */
    dockerfilePath: text(),
    contextDir: text().notNull().default('.'),
    /** Relative to the repository's root; its services are run. Null for one image. */
    composeFile: text(),
    /** The service that has the addresses; null for the one that Davit finds. */
    composeService: text(),
    buildArgs: text({ mode: 'json' }).$type<Record<string, string>>().notNull().default({}),
    /** In place of what is detected in a repository without a Dockerfile. */
    buildSettings: text({ mode: 'json' }).$type<BuildSettings>().notNull().default({}),
    /** A build gets `.git`, with the whole history and all tags. */
    gitDirectory: flag().notNull().default(false),
    /** Commands of a build can reach a network. */
    buildNetwork: flag().notNull().default(true),
    autoDeploy: flag().notNull().default(true),
    keepImages: integer().notNull().default(5),
    /** Null until someone changes them. */
    previews: text({ mode: 'json' }).$type<PreviewSettings>(),
    /** The number of the newest deployment, which may have been deleted with its environment. */
    lastNumber: integer().notNull().default(0),
    webhookSecret: text().notNull(),
    /** Its owner has seen that secret: each one is shown once. */
    webhookSecretShown: flag().notNull().default(false),
    /** The secret was replaced when the project got another owner, so the provider may have the old one. */
    webhookOutdated: flag().notNull().default(false),
    /** Set while the project's containers, images and files are being removed. */
    deletingAt: time(),
    /** That removal deletes the named volumes too. */
    deletingVolumes: flag().notNull().default(false),
    createdAt: createdAt(),
  },
  (t) => [uniqueIndex('project_name_per_owner').on(t.ownerId, t.name)],
)

/** Where the containers of an environment run: on one server, or evenly over those with the labels. */
export type Placement = { server: string } | { labels: Record<string, string>; spread: 'servers' }

/** What sends requests back to the version before while a new one is watched. */
export const rollbackReasons = ['crash', 'health', 'errors'] as const
export type RollbackReason = (typeof rollbackReasons)[number]

export const environments = sqliteTable(
  'environments',
  {
    id: id(),
    projectId: childOf(() => projects.id),
    name: text().notNull(),
    /** A name, or a pattern of branches. Null: the project's, or none with `tags`. */
    branch: text(),
    /** A pattern of tags whose push deploys them; null for none. */
    tags: text(),
    /** Its versions are those of that environment, without a build; null for builds of its own. */
    promoteFrom: text().references((): AnySQLiteColumn => environments.id, {
      onDelete: 'set null',
    }),
    /** As soon as they are live there. */
    promoteAutomatically: flag().notNull().default(false),
    /** A pushed commit is deployed once the provider says that all its checks passed. */
    waitForChecks: flag().notNull().default(false),
    /** The app's port in its container. Null: the image's first EXPOSE, else 3000. 0: none, a worker. */
    port: integer(),
    /** Port of this host on which it is reached without a domain; never changes by itself. */
    hostPort: integer().notNull().unique(),
    /** A user chose that port: then Docker publishes it itself, even with an edge. */
    portSet: flag().notNull().default(false),
    /** Its name under DAVIT_DOMAIN; null in a row of an earlier version, until the next start fills it. */
    label: text().unique(),
    /** Seconds until open connections are closed when an instance is replaced. */
    drainSeconds: integer().notNull().default(30),
    /** Seconds after the switch in which requests may go back to the version before. Null for the server's. */
    watchSeconds: integer(),
    /** What sends them back. */
    rollbackOn: text({ mode: 'json' })
      .$type<RollbackReason[]>()
      .notNull()
      .default(['crash', 'health']),
    /** Null when the gate only requires that the port accepts connections. */
    healthPath: text(),
    /** The Host header of the probe. Null: its first domain, else localhost. */
    healthHost: text(),
    /** In seconds. */
    healthTimeout: integer().notNull().default(60),
    memoryMb: integer().notNull().default(512),
    cpus: real().notNull().default(1),
    /** Null for the project's. */
    autoDeploy: flag(),
    /** Null for the server that Davit runs on. */
    placement: text({ mode: 'json' }).$type<Placement>(),
    /** Entries `name:/path`. */
    volumes: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
    /** In the order of their start; all run the image of one deployment. */
    processes: text({ mode: 'json' }).$type<Process[]>().notNull().default([onlyWeb]),
    /** Runs once in a container of the new image before anything is switched. */
    releaseCommand: text({ mode: 'json' }).$type<Command>(),
    /** In seconds. */
    releaseTimeout: integer().notNull().default(600),
    /** Read from the commit that was built last; suggested, never applied automatically. Null without one. */
    procfile: text({ mode: 'json' }).$type<ProcfileEntry[]>(),
    /** Of the live deployment's commit, applied to this row; null without any. */
    codeSettings: text({ mode: 'json' }).$type<CodeSettings>(),
    /** The user's own values of the fields that those replaced. */
    ownSettings: text({ mode: 'json' })
      .$type<Partial<Record<keyof CodeSettings['settings'], unknown>>>()
      .notNull()
      .default({}),
    /** Set while its containers and images are being removed; its volumes stay. */
    deletingAt: time(),
    createdAt: createdAt(),
  },
  (t) => [uniqueIndex('environment_name_per_project').on(t.projectId, t.name)],
)
