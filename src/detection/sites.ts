import type { Files } from './files.ts'
import type { Found, Options, Rule, Settings } from './plan.ts'
import { buildArguments, copy, dockerfile, installPackages, run, staticStage } from './text.ts'
import { chooseVersion } from './versions.ts'

/** Generators of sites that need no package.json, then plain files. */
type Site = {
  name: string
  looksFor: string[]
  isFound: (files: Files) => boolean
  directory: string
  /** Null for files that are there. */
  prepare: ((options: Options) => Made) | null
}

type Made = {
  /** Up to the build. */
  stage: (string | null)[]
  build: string | null
  reasons: string[]
  /** Else of a language, whose packages the stage has installed. */
  isOfDebian?: boolean
}

const sites: Site[] = [
  {
    name: 'Hugo',
    looksFor: ['hugo.toml'],
    isFound: (files) =>
      files.first('hugo.toml', 'hugo.yaml', 'hugo.json') !== undefined ||
      (files.first('config.toml', 'config.yaml') !== undefined && files.hasFolder('content')),
    directory: 'public',
    prepare: byDebian('Hugo', ['ca-certificates', 'git', 'hugo'], 'hugo --minify'),
  },
  {
    name: 'Jekyll',
    looksFor: ['_config.yml'],
    // With a Gemfile of anything else, it is an app of Ruby by now.
    isFound: (files) => files.has('_config.yml'),
    directory: '_site',
    prepare({ files, settings }) {
      const version = chooseVersion('Ruby', settings, [
        { range: files.line('.ruby-version'), from: '.ruby-version' },
      ])
      const gemfile = files.has('Gemfile')
      return {
        stage: [
          `FROM ${version.image} AS build`,
          'WORKDIR /app',
          installPackages(['build-essential', 'git'], settings.packages),
          gemfile ? copy(files.present('Gemfile', 'Gemfile.lock'), './') : null,
          run(settings.install ?? (gemfile ? 'bundle install' : 'gem install jekyll')),
        ],
        build: gemfile
          ? 'JEKYLL_ENV=production bundle exec jekyll build'
          : 'JEKYLL_ENV=production jekyll build',
        reasons: [version.reason],
      }
    },
  },
  {
    name: 'mdBook',
    looksFor: ['book.toml'],
    isFound: (files) => files.has('book.toml'),
    directory: 'book',
    prepare: byDebian('mdBook', ['mdbook'], 'mdbook build'),
  },
  {
    name: 'MkDocs',
    looksFor: ['mkdocs.yml'],
    isFound: (files) => files.has('mkdocs.yml'),
    directory: 'site',
    prepare({ files, settings }) {
      const version = chooseVersion('Python', settings, [
        { range: files.line('.python-version'), from: '.python-version' },
      ])
      const list = files.has('requirements.txt')
      return {
        stage: [
          `FROM ${version.image} AS build`,
          'WORKDIR /app',
          installPackages(settings.packages),
          list ? copy(['requirements.txt'], './') : null,
          run(
            settings.install ??
              (list ? 'pip install -r requirements.txt' : 'pip install mkdocs mkdocs-material'),
            ['/root/.cache'],
          ),
        ],
        build: 'mkdocs build',
        reasons: [version.reason],
      }
    },
  },
  ...['.', 'public', 'dist', 'build', 'docs', 'src', '_site', 'www'].map((directory): Site => ({
    name: 'Static files',
    looksFor: directory === '.' ? ['index.html'] : [],
    isFound: (files) => files.has(directory === '.' ? 'index.html' : `${directory}/index.html`),
    directory,
    prepare: null,
  })),
]

function byDebian(name: string, packages: string[], build: string): Site['prepare'] {
  return ({ settings }) => ({
    ...onDebian(settings, packages),
    build,
    reasons: [`${name} of Debian trixie`],
  })
}

const onDebian = (settings: Settings, packages: string[] = []): Made => ({
  stage: [
    'FROM debian:trixie-slim AS build',
    'WORKDIR /app',
    installPackages(packages, settings.packages),
  ],
  build: null,
  reasons: ['built on Debian trixie'],
  isOfDebian: true,
})

export const site: Rule = {
  looksFor: sites.flatMap(({ looksFor }) => looksFor),
  plan(options) {
    const found = sites.find(({ isFound }) => isFound(options.files))
    return found ? planSite(found, options) : null
  },
}

function planSite({ name, directory: usual, prepare }: Site, options: Options): Found {
  const { settings, buildVariables } = options
  const directory = settings.directory ?? usual
  const spa = settings.spa ?? false
  const own = prepare?.(options) ?? null
  const isSet = settings.install !== undefined || settings.build !== undefined
  const made = own ?? (isSet ? onDebian(settings) : null)
  const build = settings.build ?? made?.build ?? null
  return {
    kind: name,
    reasons: [
      ...(made?.reasons ?? []),
      ...(build === null ? [] : [`builds with ${build}`]),
      `serves the files of ${directory === '.' ? 'the directory itself' : directory}`,
    ],
    dockerfile:
      made === null
        ? dockerfile(staticStage(directory, { spa, from: null }))
        : dockerfile(
            [
              ...made.stage,
              'COPY . .',
              ...buildArguments(buildVariables),
              !made.isOfDebian || settings.install === undefined ? null : run(settings.install),
              build === null ? null : run(build),
            ],
            staticStage(directory === '.' ? '/app' : `/app/${directory}`, { spa, from: 'build' }),
          ),
    ignore: [
      'Dockerfile',
      '.dockerignore',
      '.gitignore',
      '.github',
      // Files that are only served may be there too.
      ...(own === null ? ['!node_modules', '!**/node_modules'] : [usual]),
    ],
    unused: [
      'start',
      ...(made === null || made.isOfDebian ? ['version' as const] : []),
      ...(made === null ? ['packages' as const] : []),
    ],
    settings: { directory, spa, ...(build !== null && { build }) },
    links: [],
  }
}
