import type { Files } from './files.ts'
import { webOfProcfile } from './files.ts'
import { linksOfPackages } from './links.ts'
import { packageManagerOf } from './package-manager.ts'
import { lacking } from './plan.ts'
import type { Rule } from './plan.ts'
import { list, buildArguments, started, copy, dockerfile, installPackages, run } from './text.ts'
import { chooseVersion } from './versions.ts'

/** `ruby '>= 3.2', '< 3.5'`, also on several lines. `~> 3.3` is any 3 from 3.3 on, `~> 3.3.1` any 3.3. */
const requiredIn = (gemfile: string) =>
  Array.from(
    (
      /^[ \t]*ruby[ \t(]+((?:["'][^"'\n]{1,40}["'](?:,\s{0,80})?){1,5})/m.exec(gemfile)?.[1] ?? ''
    ).matchAll(/["']([^"']+)["']/g),
    ([, range]) => range!.replace(/~>\s*(?=\d+\.\d+\.)/, '~').replace('~>', '^'),
  ).join(' ')

export const ruby: Rule = {
  looksFor: ['Gemfile'],
  plan({ files, settings, buildVariables }) {
    if (!files.has('Gemfile')) return null
    const gems = gemsOf(files)
    const has = (name: string) => gems.has(name)
    const version = chooseVersion('Ruby', settings, [
      { range: files.line('.ruby-version'), from: '.ruby-version' },
      { range: /^ruby\s+(\S+)/m.exec(files.text('.tool-versions'))?.[1], from: '.tool-versions' },
      { range: requiredIn(files.text('Gemfile')), from: 'Gemfile' },
    ])
    const isRails = has('rails')
    // GitHub's gem brings Jekyll along.
    const isJekyll = (has('jekyll') || has('github-pages')) && !isRails
    if (isJekyll) return null
    const start = settings.start ?? webOfProcfile(files) ?? startOf({ files, has })
    const usesAssets = isRails && (has('sprockets-rails') || has('propshaft') || has('vite_rails'))
    const build =
      settings.build ??
      (usesAssets
        ? 'SECRET_KEY_BASE_DUMMY=1 RAILS_ENV=production bin/rails assets:precompile'
        : null)
    // Gems that are folders or archives of the repository.
    const needsCode =
      /^[ \t]*gemspec\b|\bpath(:|\s*=>)/m.test(files.text('Gemfile')) ||
      files.hasFolder('vendor/cache')
    const libraries = libraryPackages.filter(({ gem }) => has(gem))
    // Which one matters: the tasks that compile assets run it again.
    const manager = files.has('package.json') && isRails ? packageManagerOf(files) : null
    // An install command of the user's own may leave files in the folder.
    const isBuilt = build !== null || manager !== null || settings.install !== undefined
    return {
      kind: isRails ? 'Rails' : has('sinatra') ? 'Sinatra' : has('hanami') ? 'Hanami' : 'Ruby',
      reasons: [
        ...(isRails ? ['Rails from Gemfile.lock'] : []),
        files.has('Gemfile.lock')
          ? 'Bundler from Gemfile.lock'
          : 'Bundler, without a Gemfile.lock: each build may get other versions',
        version.reason,
        ...(build === null ? [] : [`builds with ${build}`]),
        `starts with ${start}`,
      ],
      dockerfile: dockerfile(
        [
          `FROM ${version.image} AS base`,
          'WORKDIR /app',
          'ENV BUNDLE_DEPLOYMENT=1 BUNDLE_WITHOUT=development:test BUNDLE_PATH=/usr/local/bundle RAILS_ENV=production RACK_ENV=production',
        ],
        [
          'FROM base AS gems',
          installPackages(
            ['build-essential', 'git', 'libyaml-dev', 'pkg-config'],
            libraries.flatMap(({ build }) => build),
            settings.packages,
          ),
          needsCode
            ? 'COPY . .'
            : copy(files.present('Gemfile', 'Gemfile.lock', '.ruby-version'), './'),
          run(
            settings.install ??
              (files.has('Gemfile.lock') ? 'bundle install' : 'BUNDLE_DEPLOYMENT=0 bundle install'),
          ),
        ],
        // On its own, so that a change of the app doesn't compare all gems with those of the last build.
        isBuilt
          ? [
              'FROM gems AS build',
              ...(manager === null
                ? []
                : [
                    installPackages(['nodejs', 'npm']),
                    ...(manager.name === 'bun' ? ['RUN npm install --global bun'] : manager.setUp),
                    copy(manager.manifests, './'),
                    manager.install(undefined),
                  ]),
              needsCode ? null : 'COPY . .',
              ...buildArguments(buildVariables),
              build === null ? null : run(build),
              manager === null ? null : run('rm -rf node_modules'),
            ]
          : null,
        [
          'FROM base',
          installPackages(...libraries.map(({ run }) => run), settings.packages),
          'RUN useradd --create-home --uid 1000 app && chown app:app /app',
          `ENV PORT=3000${isRails ? ' RAILS_LOG_TO_STDOUT=1 RAILS_SERVE_STATIC_FILES=1' : ''}`,
          'COPY --from=gems /usr/local/bundle /usr/local/bundle',
          `COPY ${isBuilt ? '--from=build ' : ''}--chown=app:app ${isBuilt ? '/app' : '.'} .`,
          'USER app',
          ...started(start, 3000),
        ],
      ),
      ignore: list(`
        log/* tmp/* storage/* .bundle vendor/bundle config/master.key config/credentials/*.key`),
      settings: { version: version.version, start, ...(build !== null && { build }) },
      links: linksOfPackages((name) => has(name), 'Gemfile.lock'),
      releaseCommand: isRails ? 'bin/rails db:prepare' : null,
    }
  },
}

function startOf({ files, has }: { files: Files; has: (name: string) => boolean }) {
  if (has('rails')) return 'bin/rails server -b 0.0.0.0'
  if (files.has('config.ru'))
    return has('puma')
      ? 'bundle exec puma -b tcp://0.0.0.0:$PORT'
      : 'bundle exec rackup -o 0.0.0.0 -p $PORT'
  const script = files.first('app.rb', 'main.rb', 'server.rb')
  if (script !== undefined) return `bundle exec ruby ${script} -o 0.0.0.0 -p $PORT`
  throw lacking(
    'The Gemfile doesn’t say how the app starts.',
    'Add a config.ru, an app.rb, a Procfile with a line “web:”, or set the start command.',
  )
}

/** Of the Gemfile and of its lock file, where each gem stands indented with its version. */
function gemsOf(files: Files): Set<string> {
  const listed = Array.from(
    files.text('Gemfile').matchAll(/^[ \t]*gem\s+['"]([\w.-]+)['"]/gm),
    ([, name]) => name!,
  )
  const locked = Array.from(
    files.text('Gemfile.lock').matchAll(/^ {4}([\w.-]+) \(/gm),
    ([, name]) => name!,
  )
  return new Set([...listed, ...locked])
}

const libraryPackages = [
  { gem: 'pg', build: ['libpq-dev'], run: ['libpq5'] },
  { gem: 'mysql2', build: ['default-libmysqlclient-dev'], run: ['libmariadb3'] },
  { gem: 'trilogy', build: ['libssl-dev'], run: [] },
  { gem: 'sqlite3', build: ['libsqlite3-dev'], run: ['libsqlite3-0'] },
  { gem: 'image_processing', build: [], run: ['libvips42'] },
  { gem: 'rmagick', build: ['libmagickwand-dev'], run: ['imagemagick'] },
  { gem: 'charlock_holmes', build: ['libicu-dev'], run: ['libicu-dev'] },
]
