import { z } from 'zod'
import type { Config } from '../config.ts'
import { AppError } from '../platform/errors.ts'
import { repositoryName } from '../git/forms.ts'
import { refuseBranch } from '../git/ref-names.ts'
import { parseRepositoryUrl, withScheme } from '../git/repository-url.ts'
import { refusePath } from '../git/tree-paths.ts'
import { refuseWatchedPath } from '../git/watched-path.ts'
import type { ImageReference } from '../registries/image-registry.ts'
import { parseReference } from '../registries/image-registry.ts'
import { parseImage } from '../registries/tag-pattern.ts'
import { privateRegistry } from '../runtime/images/private-names.ts'
import { flag, line, lines, unless } from '../web/fields.ts'
import { field } from '../web/schema-fields.tsx'

/** A function, as the allowed repositories depend on the settings. */
export const repositoryUrl = (config: Config) =>
  line('the address of a git repository', { max: 2000 }).transform((text, context) => {
    try {
      const options = { allowLocal: config.allowLocalRepos, allow: config.allowHosts }
      parseRepositoryUrl(text, options)
      return withScheme(text, options)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      context.addIssue({ code: 'custom', message: error.message })
      return z.NEVER
    }
  })

export const branchName = line('a branch', { max: 250 }).superRefine(unless(refuseBranch))

const name = line('a name of 1 to 60 characters', { max: 60 })

const isPulled = (reference: ImageReference | null | undefined) =>
  !!reference && reference.registry !== privateRegistry

export const imageReference = line('the reference of an image', { max: 500 }).refine(
  (text) => isPulled(parseReference(text)),
  'must be the reference of an image, such as nginx:1.29 or registry.example.com/team/app:2.',
)

const imageChoice = line('the reference of an image', { max: 500 }).refine(
  (text) => isPulled(parseImage(text)?.reference),
  'must be the reference of an image, such as registry.example.com/team/app:2. A pattern for its tag has numbers and then *, such as 1.* or 1.*-rc.*.',
)

/** A path relative to the repository's root that stays inside it; `.` is the root itself. */
export const insidePath = (what: string) => line(what, { max: 500 }).superRefine(unless(refusePath))

const origin = (config: Config) => ({
  repositoryUrl: repositoryUrl(config).nullish(),
  sourceId: line('the id of a git source', { max: 100 }).nullish(),
  repository: repositoryName.nullish(),
  image: imageChoice.nullish(),
})

/** Why nothing else was chosen in place of an empty field. */
export const wantsOrigin = {
  repositoryUrl:
    'must be the address of a git repository. Or choose a git source and a repository, or an image.',
  image: 'must be the reference of an image. Or choose a repository.',
}

type Origin = z.output<z.ZodObject<ReturnType<typeof origin>>> & {
  branch?: string | null | undefined
}

/** Checked even if the rest of the body is invalid. */
const always = { when: ({ value }: { value: unknown }) => typeof value === 'object' && !!value }

const paired = <Schema extends z.ZodType<Origin>>(schema: Schema) =>
  schema
    .refine(({ sourceId, repository }) => !sourceId || !!repository, {
      path: ['repository'],
      error: 'must be a repository of the git source, such as owner/name.',
      ...always,
    })
    .refine(({ sourceId, repository }) => !repository || !!sourceId, {
      path: ['sourceId'],
      error: 'must be the git source of the repository.',
      ...always,
    })
    .refine(({ branch, image }) => !branch || !image, {
      path: ['branch'],
      error: 'can’t be combined with an image. Give only one of the two.',
      ...always,
    })
    .refine(({ sourceId, repositoryUrl, image }) => !image || !(sourceId || repositoryUrl), {
      path: ['image'],
      error: 'can’t be combined with a repository. Give only one of the two.',
      ...always,
    })

/** A path or a pattern in the repository; everything below a match matches too. */
const watchPath = line('a path or a pattern such as src/**', { max: 500 }).superRefine(
  (path, context) => unless(whyNotWatched)(path, context),
)

/** Includes the pattern, as its field has several. */
export function whyNotWatched(path: string): string | null {
  const why = refuseWatchedPath(path)
  return why && `The line “${path.slice(0, 80)}” ${why}`
}

/** Where the app is in its repository, and which changes are about it. */
export const placeForm = z.object({
  contextDir: field(insidePath('a directory of the repository').nullish(), {
    label: 'Context directory',
    placeholder: '.',
    hint: 'Where the app is in the repository. Leave empty for its root.',
    group: 'build',
    code: true,
    isNarrow: true,
  }),
  watchPaths: field(lines(watchPath, { max: 100 }).nullish(), {
    label: 'Watched paths',
    placeholder: 'src/**',
    hint: 'One path or pattern per line, from the root of the repository: src, *.md, packages/*/src, **/*.sql, src/{web,api}, v[0-9], x[!0-9]. What is below a folder counts too. Only a push that changes one of them deploys. Leave empty to deploy on every push.',
    group: 'build',
    code: true,
    isLong: true,
  }),
  composeFile: field(insidePath('the path of a Compose file').nullish(), {
    label: 'Compose file',
    placeholder: 'compose.yaml',
    hint: 'Its services are built and run together, in place of one Dockerfile. Leave empty for one image.',
    group: 'build',
    code: true,
    isNarrow: true,
  }),
})

export const projectForm = (config: Config) =>
  paired(
    z.object({
      name,
      ...origin(config),
      branch: branchName.nullish(),
      ...placeForm.shape,
      deploy: flag().nullish(),
    }),
  )
    .refine(({ composeFile, image }) => !composeFile || !image, {
      path: ['composeFile'],
      error: 'can’t be combined with an image. Give only one of the two.',
      ...always,
    })
    .refine(({ image, contextDir, watchPaths }) => !image || !(contextDir || watchPaths?.length), {
      path: ['image'],
      error: 'has no directory. Leave the directory and the watched paths empty.',
      ...always,
    })
    .refine(
      ({ repositoryUrl, sourceId, repository, image }) =>
        repositoryUrl || sourceId || repository || image,
      {
        path: ['repositoryUrl'],
        error: wantsOrigin.repositoryUrl,
        ...always,
      },
    )

export const projectUpdateForm = (config: Config) =>
  paired(
    z.object({
      name: name.optional(),
      ...origin(config),
      branch: branchName.nullish(),
    }),
  )

const name200 = line('a name such as DATABASE_URL', { max: 200 })

/** The names that Davit allows in containers, which include discovery.type. */
export const variableName = name200.regex(
  /^[A-Za-z_][A-Za-z0-9_.-]*$/,
  'may only have letters, digits, _, . and -, and can’t start with a digit, . or -.',
)

/** The names that a Dockerfile can declare. */
export const argumentName = name200.regex(
  /^[A-Za-z_][A-Za-z0-9_]*$/,
  'may only have letters, digits and underscores, and can’t start with a digit.',
)

/** The patterns while they are typed; errors are shown beside them. */
export const watchedFilesQuery = z.object({
  watchPaths: lines(line('a path or a pattern', { max: 500 }), { max: 100 }).optional(),
})

/** `dockerfile` requests the text as a file. */
export const detectionQuery = z.object({ format: z.enum(['dockerfile']).optional() })

/** Fills in a form, which checks them; `from` is the kind of source. */
export const placeQuery = z.object({
  from: z.string().optional(),
  contextDir: z.string().max(500).optional(),
  watchPaths: z.string().max(60_000).optional(),
})

/** `like` is a project of the same repository. */
export const newProjectQuery = placeQuery.extend({
  like: line('the id of a project', { max: 100 }).optional(),
})

export const removalForm = z.object({ volumes: flag().nullish() })
