import { z } from 'zod'
import type { Settings } from '../detection/plan.ts'
import { flag, line, lines, pairs, whole } from '../web/fields.ts'
import { flagField } from '../web/labelled-fields.ts'
import { field } from '../web/schema-fields.tsx'
import { argumentName, insidePath, placeForm } from './forms.ts'

/** A line of a Dockerfile's RUN, so nothing in it may start another form of one. */
const shellLine = (what: string) =>
  line(what, { max: 2000 })
    .refine((text) => !text.endsWith('\\'), 'can’t end in a backslash.')
    .refine(
      (text) => !/^(\[|--)/.test(text),
      'must be a shell command: it can’t start with [ or --.',
    )
    .refine((text) => !text.includes('<<'), 'can’t have a here-document. Use a script.')
    .nullish()

const versionText = line('a version such as 22 or 3.13', { max: 40 }).regex(
  /^[\w.~^<>=| *-]+$/,
  'must be a version such as 22 or 3.13.',
)

const packageName = line('a package of Debian', { max: 100 }).regex(
  // One that ends in a hyphen would be removed.
  /^[a-z0-9][a-z0-9+.-]*[a-z0-9+.]$/,
  'must be names of Debian’s packages, such as libpq5.',
)

/** Of a repository without a Dockerfile; the whole of it is replaced. */
export const buildSettings = z
  .strictObject(
    {
      version: field(versionText.nullish(), {
        label: 'Version',
        placeholder: '24',
        hint: 'Of the language.',
        code: true,
        isNarrow: true,
      }),
      directory: field(insidePath('the directory of the built files').nullish(), {
        label: 'Output directory',
        placeholder: 'dist',
        hint: 'Where the build leaves the files of a static site.',
        code: true,
        isNarrow: true,
      }),
      install: field(shellLine('a command that installs the dependencies'), {
        label: 'Install command',
        placeholder: 'npm ci',
        code: true,
      }),
      build: field(shellLine('a command that builds the app'), {
        label: 'Build command',
        placeholder: 'npm run build',
        code: true,
      }),
      start: field(shellLine('a command that starts the app'), {
        label: 'Start command',
        placeholder: 'node server.js',
        code: true,
      }),
      packages: field(lines(packageName, { max: 50 }).nullish(), {
        label: 'System packages',
        placeholder: 'libvips42',
        hint: 'Names of Debian’s packages, one per line. They are installed for the build and the app.',
        code: true,
        isLong: true,
      }),
      spa: field(flag().nullish(), {
        label: 'Single-page app',
        hint: 'Of a static site.',
        options: [
          { value: '', label: 'As found' },
          { value: 'true', label: 'Yes: unknown paths get index.html' },
          { value: 'false', label: 'No' },
        ],
      }),
    },
    {
      error: ({ code }) =>
        code === 'unrecognized_keys'
          ? 'has an unknown key. The keys are install, build, start, version, directory, packages and spa.'
          : 'must be an object.',
    },
  )
  .transform((given) => {
    const isSet = ([, value]: [string, unknown]) =>
      value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0)
    return Object.fromEntries(Object.entries(given).filter(isSet)) as Settings
  })

const { contextDir, composeFile, watchPaths } = placeForm.shape

/** Also of a project that deploys an image, as far as it has them. */
export const buildForm = z.object({
  contextDir,
  dockerfilePath: field(insidePath('the path of a Dockerfile').nullish(), {
    label: 'Dockerfile',
    group: 'build',
    code: true,
    isNarrow: true,
  }),
  composeFile,
  composeService: field(line('the name of a service', { max: 63 }).nullish(), {
    label: 'Service with the addresses',
    hint: 'Of the Compose file. Leave empty to use the one that publishes a port.',
    group: 'build',
    code: true,
    isNarrow: true,
  }),
  buildArgs: field(
    pairs(
      argumentName.refine((key) => !steersBuilder(key), {
        error: ({ input }) => steeringRefusal(String(input)),
      }),
      { max: 100 },
    ).nullish(),
    {
      label: 'Build arguments',
      placeholder: 'NODE_ENV=production',
      hint: 'One KEY=value per line. They are readable in the image’s history, so don’t use secrets.',
      group: 'build',
      code: true,
      isLong: true,
    },
  ),
  buildSettings: buildSettings.nullish(),
  buildNetwork: flagField('Network while building', {
    hint: 'Without it, commands in the Dockerfile can’t download anything. For builds that include everything they need.',
    group: 'build',
  }),
  gitDirectory: flagField('Git directory', {
    hint: 'Adds .git with the whole history and all tags to the build context, for builds that run git, such as git describe. Without it, .git is left out.',
    group: 'build',
  }),
  keepImages: field(whole('how many images to keep', { min: 1, max: 100 }).nullish(), {
    label: 'Images to keep',
    hint: 'Per environment. You can roll back to deployments whose image is kept.',
    group: 'build',
    inputmode: 'numeric',
  }),
  autoDeploy: flagField('Deploy on push', {
    hint: 'Environments use this unless they set their own.',
    group: 'build',
  }),
  watchPaths,
  /** Only of a project that deploys an image. */
  checkTag: flagField('Check the tag', {
    hint: 'Davit asks the registry every five minutes whether the tag has a new image. Not needed with a webhook.',
  }),
  webhookSecret: line('16 to 256 characters', { min: 16, max: 256 }).nullish(),
})

/**
 * True for build arguments that control the builder instead of the Dockerfile. Builders exclude proxies from
 * layer cache keys, so content from one user's proxy would be cached for everyone. Names with BUILDKIT_
 * select the frontend and the caches.
 */
export const steersBuilder = (name: string) => /_proxy$/i.test(name) || /^buildkit_/i.test(name)

export const steeringRefusal = (name: string) =>
  `A build argument can’t be named ${name}: names that end with _PROXY or start with BUILDKIT_ change how all builds on this server work.`
