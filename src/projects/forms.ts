import { z } from 'zod'
import type { Config } from '../config.ts'
import { AppError } from '../platform/errors.ts'
import { repositoryName } from '../git/forms.ts'
import { refuseBranch } from '../git/ref-names.ts'
import { parseRepositoryUrl } from '../git/repository-url.ts'
import { refusePath } from '../git/tree-paths.ts'
import { flag, line, lines, pairs, whole } from '../web/fields.ts'

/** What a repository may be depends on the settings, so the schemas are made from them. */
export const repositoryUrl = (config: Config) =>
  line('the address of a git repository', { max: 2000 }).superRefine((text, context) => {
    try {
      parseRepositoryUrl(text, { allowLocal: config.allowLocalRepos, allow: config.allowHosts })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      context.addIssue({ code: 'custom', message: error.message })
    }
  })

/** Complains in the words of what refuses it. */
const unless =
  (refuse: (text: string) => string | null) => (text: string, context: z.RefinementCtx) => {
    const message = refuse(text)
    if (message) context.addIssue({ code: 'custom', message })
  }

export const branchName = line('a branch', { max: 250 }).superRefine(unless(refuseBranch))

const name = line('a name of 1 to 60 characters', { max: 60 })

/** Where the code comes from: a repository of a git source, or an address. */
const origin = (config: Config) => ({
  repositoryUrl: repositoryUrl(config).nullish(),
  sourceId: line('the id of a git source', { max: 100 }).nullish(),
  repository: repositoryName.nullish(),
})

type Origin = z.output<z.ZodObject<ReturnType<typeof origin>>>

/** What else is wrong with the body does not keep these from being checked. */
const always = { when: ({ value }: { value: unknown }) => typeof value === 'object' && !!value }

/** A source and its repository go together. */
const paired = <Schema extends z.ZodType<Origin>>(schema: Schema) =>
  schema
    .refine(({ sourceId, repository }) => !sourceId || !!repository, {
      path: ['repository'],
      error: 'wants a repository of the git source, such as owner/name.',
      ...always,
    })
    .refine(({ sourceId, repository }) => !repository || !!sourceId, {
      path: ['sourceId'],
      error: 'wants the git source that has the repository.',
      ...always,
    })
    .refine(({ sourceId, repositoryUrl }) => !sourceId || !repositoryUrl, {
      path: ['repositoryUrl'],
      error: 'is made from the git source. Give one of the two.',
      ...always,
    })

export const projectForm = (config: Config) =>
  paired(
    z.object({
      name,
      ...origin(config),
      branch: branchName.nullish(),
      /** The button "Create and deploy". */
      deploy: flag().nullish(),
    }),
  ).refine(({ repositoryUrl, sourceId, repository }) => repositoryUrl || sourceId || repository, {
    path: ['repositoryUrl'],
    error: 'wants the address of a git repository, or a git source with a repository.',
    ...always,
  })

export const projectUpdateForm = (config: Config) =>
  paired(
    z.object({
      name: name.optional(),
      ...origin(config),
      repositoryUrl: repositoryUrl(config).optional(),
      branch: branchName.nullish(),
    }),
  )

/** A path relative to the repository's root that stays inside it; `.` is the root itself. */
const insidePath = (what: string) => line(what, { max: 500 }).superRefine(unless(refusePath))

/** A path of the repository or a pattern for several; what lies below it counts too. */
const watchPath = insidePath('a path or a pattern such as src/**')
  .refine(
    (path) => !path.startsWith('!'),
    'names what is watched; leaving paths out with “!” is not possible.',
  )
  .refine((path) => !path.split('/').includes('..'), 'is matched as it is written, without “..”.')
  .refine((path) => (path.match(/\*+/g)?.length ?? 0) <= 10, 'has more than 10 stars in it.')

/** What a shell takes for the name of a variable. */
export const variableName = line('a name such as DATABASE_URL', { max: 200 }).regex(
  /^[A-Za-z_][A-Za-z0-9_]*$/,
  'must have names of letters, digits and underscores, and no digit first.',
)

export const buildForm = z.object({
  dockerfilePath: insidePath('the path of a Dockerfile').nullish(),
  contextDir: insidePath('a directory of the repository').nullish(),
  buildArgs: pairs(
    variableName.refine((key) => !steersBuilder(key), {
      error: ({ input }) => steeringRefusal(String(input)),
    }),
    { max: 100 },
  ).nullish(),
  buildNetwork: flag().nullish(),
  autoDeploy: flag().nullish(),
  watchPaths: lines(watchPath, { max: 100 }).nullish(),
  keepImages: whole('how many images to keep', { min: 1, max: 100 }).nullish(),
  webhookSecret: line('16 to 256 characters', { min: 16, max: 256 }).nullish(),
})

export const removalForm = z.object({ volumes: flag().nullish() })

/**
 * Whether a build argument steers the builder and not the Dockerfile. Builders leave proxies out of
 * the key of a layer, so that what came through the proxy of one user would be in the cache of all;
 * and what begins with BUILDKIT_ chooses the frontend and where caches are.
 */
export const steersBuilder = (name: string) => /_proxy$/i.test(name) || /^buildkit_/i.test(name)

export const steeringRefusal = (name: string) =>
  `The name ${name} can't be given to a build: names that end with _PROXY or begin with BUILDKIT_ change how all builds on this server work.`

/** The arguments without those that steer the builder, which may have been saved before that was checked. */
export function withoutSteering(args: Record<string, string>) {
  const entries = Object.entries(args)
  const left = entries.map(([name]) => name).filter(steersBuilder)
  return { args: Object.fromEntries(entries.filter(([name]) => !steersBuilder(name))), left }
}
