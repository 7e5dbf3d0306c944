import type { Files } from './files.ts'
import { objectOf } from './files.ts'
import { linksOfPackages } from './links.ts'
import { dependenciesOf, packageManagerOf } from './package-manager.ts'
import type { Rule } from './plan.ts'
import {
  buildArguments,
  command,
  copy,
  dockerfile,
  installPackages,
  run,
  together,
} from './text.ts'
import { chooseVersion } from './versions.ts'

export const php: Rule = {
  looksFor: ['composer.json', 'index.php'],
  plan({ files, settings, buildVariables }) {
    const hasComposer = files.has('composer.json')
    if (!hasComposer && files.first('index.php', 'public/index.php') === undefined) return null
    const required = objectOf(files.json('composer.json')['require'])
    const has = (name: string) => Object.hasOwn(required, name)
    const framework = Object.entries(known).find(([, name]) => has(name))?.[0] ?? null
    const version = chooseVersion('PHP', settings, [
      { range: files.line('.php-version'), from: '.php-version' },
      {
        range:
          typeof required['php'] === 'string' ? required['php'].replaceAll(/\|\|?/g, '||') : null,
        from: 'composer.json',
      },
    ])
    const root =
      settings.directory ??
      (files.first('public/index.php') !== undefined
        ? 'public'
        : files.has('web/index.php')
          ? 'web'
          : '.')
    const extensions = extensionsOf(required, framework)
    // Packages that are folders or archives of the repository.
    const needsCode = /"type"\s*:\s*"(path|artifact)"/.test(files.text('composer.json'))
    const isUsual = settings.install === undefined && settings.build === undefined
    // On their own, so that a change of the app doesn't copy all packages again.
    const isApart = hasPackages(files) && !needsCode && isUsual
    const front = frontOf(files, buildVariables)
    const install =
      settings.install ??
      'composer install --no-dev --no-scripts --no-interaction --prefer-dist --optimize-autoloader'
    const manifests = files.present('composer.json', 'composer.lock')
    const installed = hasComposer
      ? [
          installPackages(['git', 'unzip']),
          // It leaves out plugins for root, and Symfony's starter needs one.
          'ENV COMPOSER_ALLOW_SUPERUSER=1',
          'COPY --from=composer:2.9 /usr/bin/composer /usr/local/bin/composer',
          needsCode ? 'COPY . .' : copy(manifests, './'),
          run(
            // With all classes there, it finds them as it installs.
            needsCode ? install : install.replace('--optimize-autoloader', '--no-autoloader'),
            ['/root/.composer/cache'],
          ),
        ]
      : []
    const isBuilt = hasComposer || front !== null || !isUsual
    // Composer installs before the code is there.
    const steps = [hasComposer ? undefined : settings.install, settings.build].filter(
      (step) => step !== undefined,
    )
    const folders = writtenBy[framework ?? ''] ?? []
    const written = folders.length === 0 ? [] : [`mkdir -p ${folders.join(' ')}`]
    const last = [
      'USER www-data',
      'EXPOSE 8080',
      // Apache ends by another signal than programs do.
      ...(settings.start === undefined ? [] : ['STOPSIGNAL SIGTERM', command(settings.start)]),
    ]
    return {
      kind: framework ?? 'PHP',
      reasons: [
        ...(framework === null ? [] : [`${framework} from composer.json`]),
        ...(hasComposer
          ? [
              files.has('composer.lock')
                ? 'Composer from composer.lock'
                : 'Composer, without a composer.lock: each build may get other versions',
            ]
          : []),
        version.reason,
        ...(extensions.length === 0 ? [] : [`with the extensions ${extensions.join(', ')}`]),
        ...(front === null ? [] : [`builds its front end with ${front.build}`]),
        `Apache serves ${root === '.' ? 'the directory itself' : root}`,
      ],
      dockerfile: dockerfile(
        front === null ? null : front.stage,
        [
          `FROM ${version.image}${isBuilt ? ' AS base' : ''}`,
          installPackages(...extensions.map((name) => libraries[name]), settings.packages),
          ...installing(extensions),
          `ENV PORT=8080${framework === 'Symfony' ? ' APP_ENV=prod' : ''} APACHE_DOCUMENT_ROOT=/var/www/html${root === '.' ? '' : `/${root}`}`,
          // Apache expands ${PORT} when it starts, so the port can be changed without a build. The image's own
          // settings of /var/www (.htaccess is read, folders aren't listed) hold for the folders below it.
          // Idle connections hold up its end.
          `RUN a2enmod rewrite && sed -ri -e 's!^Listen 80$!Listen \${PORT}!' /etc/apache2/ports.conf && sed -ri -e 's!\\*:80!*:\${PORT}!' -e 's!/var/www/html!\${APACHE_DOCUMENT_ROOT}!' /etc/apache2/sites-available/000-default.conf && printf '%s\\n' 'RedirectMatch 404 "/\\.(davit|env|git)"' 'KeepAliveTimeout 1' > /etc/apache2/conf-enabled/davit.conf && mv "$PHP_INI_DIR/php.ini-production" "$PHP_INI_DIR/php.ini"`,
          framework === 'Symfony'
            ? "RUN echo 'FallbackResource /index.php' > /etc/apache2/conf-enabled/front.conf"
            : null,
          'WORKDIR /var/www/html',
          ...(isBuilt ? [] : ['COPY --chown=www-data:www-data . .', ...last]),
        ],
        isApart ? ['FROM base AS packages', ...installed] : null,
        isBuilt
          ? [
              `FROM ${isApart ? 'packages' : 'base'} AS build`,
              ...(isApart ? [] : installed),
              hasComposer && needsCode ? null : 'COPY . .',
              front === null
                ? null
                : `COPY --from=front /app/${front.directory} ./${front.directory}`,
              hasComposer && !needsCode && !isApart ? run(autoload) : null,
              ...(steps.length === 0
                ? []
                : [...buildArguments(buildVariables), ...steps.map((step) => run(step))]),
              isApart
                ? run(
                    together([`touch ${before}`, autoload, ...written, 'mkdir /out', ...gathered]),
                  )
                : written.length === 0
                  ? null
                  : run(written[0]!),
            ]
          : null,
        isBuilt
          ? [
              'FROM base',
              isApart
                ? 'COPY --from=packages --chown=www-data:www-data /var/www/html/vendor ./vendor'
                : null,
              `COPY --from=build --chown=www-data:www-data ${isApart ? '/out' : '/var/www/html'} .`,
              ...last,
            ]
          : null,
      ),
      ignore: [
        ...['storage/logs/*', 'var/cache/*', 'var/log/*', '.php-version'],
        // Without Composer it is the repository's own.
        ...(hasComposer ? ['vendor'] : []),
        // They hold the defaults without which it doesn't start; secrets are in .env.local.
        ...(framework === 'Symfony' ? ['!.env', '!.env.prod'] : []),
      ],
      unused: ['spa'],
      settings: { version: version.version, directory: root, ...(hasComposer && { install }) },
      links: linksOfPackages(has, 'composer.json'),
      releaseCommand:
        framework === 'Laravel'
          ? 'php artisan migrate --force'
          : framework === 'Symfony' && has('doctrine/doctrine-migrations-bundle')
            ? 'php bin/console doctrine:migrations:migrate --no-interaction'
            : null,
    }
  },
}

const known = {
  Laravel: 'laravel/framework',
  Symfony: 'symfony/framework-bundle',
  Slim: 'slim/slim',
}

const autoload = 'composer dump-autoload --no-dev --optimize --no-scripts'

const before = '/tmp/before-autoload'

/** All but the packages, and what Composer and its plugins wrote among these, some with the time of a source. */
const gathered = [
  'tar -c --exclude=./vendor . | tar -x -C /out',
  `find vendor -type f -cnewer ${before} -print0 | tar -c --null -T - | tar -x -C /out`,
]

/** In the folder where they usually are. */
function hasPackages(files: Files) {
  const { require, config } = files.json('composer.json')
  const names = Object.keys(objectOf(require))
  return names.some((name) => name.includes('/')) && objectOf(config)['vendor-dir'] === undefined
}

/** Folders that an app writes to, which repositories don't have. */
const writtenBy: Record<string, string[]> = {
  Laravel: [
    ...['cache', 'sessions', 'views'].map((name) => `storage/framework/${name}`),
    ...['storage/logs', 'bootstrap/cache'],
  ],
  Symfony: ['var'],
}

/** Extensions that the image lacks, of those that it can install. */
function extensionsOf(required: Record<string, unknown>, framework: string | null) {
  const asked = Object.keys(required).flatMap((name) => /^ext-([a-z_0-9]+)$/.exec(name)?.[1] ?? [])
  const usual = framework === null ? [] : ['pdo_mysql', 'pdo_pgsql', 'intl', 'zip']
  return [...new Set([...asked, ...usual])].filter((name) => Object.hasOwn(libraries, name)).sort()
}

/** Those of PHP itself are compiled from the image's sources, the others come from PHP's own registry. */
function installing(extensions: string[]) {
  const foreign = extensions.filter((name) => Object.hasOwn(pecl, name))
  const own = extensions.filter((name) => !foreign.includes(name))
  const gd = 'docker-php-ext-configure gd --with-freetype --with-jpeg && '
  return [
    own.length === 0
      ? null
      : `RUN ${own.includes('gd') ? gd : ''}docker-php-ext-install ${own.join(' ')}`,
    foreign.length === 0
      ? null
      : `RUN pecl install ${foreign.join(' ')} && docker-php-ext-enable ${foreign.join(' ')}`,
  ]
}

const pecl: Record<string, string[]> = {
  amqp: ['librabbitmq-dev'],
  apcu: [],
  imagick: ['libmagickwand-dev'],
  mongodb: ['libssl-dev'],
  redis: [],
}

/** Debian's packages that each needs to be compiled. */
const libraries: Record<string, string[]> = {
  ...pecl,
  bcmath: [],
  bz2: ['libbz2-dev'],
  calendar: [],
  exif: [],
  ffi: ['libffi-dev'],
  gd: ['libpng-dev', 'libjpeg-dev', 'libfreetype-dev'],
  gettext: [],
  gmp: ['libgmp-dev'],
  intl: ['libicu-dev'],
  ldap: ['libldap-dev'],
  mysqli: [],
  pcntl: [],
  pdo_mysql: [],
  pdo_pgsql: ['libpq-dev'],
  pgsql: ['libpq-dev'],
  soap: ['libxml2-dev'],
  sockets: [],
  tidy: ['libtidy-dev'],
  xsl: ['libxslt1-dev'],
  zip: ['libzip-dev'],
}

/** Assets that Vite or the like makes, as Laravel's and Symfony's starters have. */
function frontOf(files: Files, buildVariables: string[]) {
  const scripts = objectOf(files.json('package.json')['scripts'])
  const dependencies = dependenciesOf(files.json('package.json'))
  const isKnown = ['laravel-vite-plugin', 'vite-plugin-symfony', '@symfony/webpack-encore'].some(
    (name) => Object.hasOwn(dependencies, name),
  )
  if (typeof scripts['build'] !== 'string' || !isKnown) return null
  const manager = packageManagerOf(files)
  const node = chooseVersion(manager.name === 'bun' ? 'Bun' : 'Node', {}, [
    { range: files.line('.nvmrc'), from: '.nvmrc' },
  ])
  const build = manager.runScript('build')
  return {
    build,
    directory: 'public/build',
    stage: [
      `FROM ${node.image} AS front`,
      'WORKDIR /app',
      ...manager.setUp,
      copy(manager.manifests, './'),
      manager.install(undefined),
      'COPY . .',
      ...buildArguments(buildVariables),
      run(build),
    ],
  }
}
