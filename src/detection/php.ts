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
  effective,
  ignored,
  installPackages,
  run,
} from './text.ts'
import { chooseVersion } from './versions.ts'

export const php: Rule = {
  looksFor: ['composer.json', 'index.php'],
  plan({ files, settings, buildVariables }) {
    const hasComposer = files.has('composer.json')
    if (!hasComposer && files.first('index.php', 'public/index.php') === undefined) return null
    const required = objectOf(files.json('composer.json')['require'])
    const has = (name: string) => Object.hasOwn(required, name)
    const framework = has('laravel/framework')
      ? 'Laravel'
      : has('symfony/framework-bundle')
        ? 'Symfony'
        : has('slim/slim')
          ? 'Slim'
          : null
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
    const front = frontOf(files, buildVariables)
    const install =
      settings.install ??
      'composer install --no-dev --no-scripts --no-interaction --prefer-dist --optimize-autoloader'
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
      dockerfile: dockerfile(front === null ? null : front.stage, [
        `FROM ${version.image}`,
        installPackages([
          ...['git', 'unzip'],
          ...extensions.flatMap((name) => libraries[name] ?? []),
          ...(settings.packages ?? []),
        ]),
        extensions.length === 0
          ? null
          : `RUN ${extensions.includes('gd') ? 'docker-php-ext-configure gd --with-freetype --with-jpeg && ' : ''}docker-php-ext-install ${extensions.join(' ')}`,
        // Composer leaves out plugins for root, and Symfony's starter needs one.
        `ENV PORT=8080 COMPOSER_ALLOW_SUPERUSER=1 APACHE_DOCUMENT_ROOT=/var/www/html${root === '.' ? '' : `/${root}`}`,
        // Apache expands ${PORT} when it starts, so the port can be changed without a build. The image's own
        // settings of /var/www (.htaccess is read, folders aren't listed) hold for the folders below it.
        `RUN a2enmod rewrite && sed -ri -e 's!^Listen 80$!Listen \${PORT}!' /etc/apache2/ports.conf && sed -ri -e 's!\\*:80!*:\${PORT}!' -e 's!/var/www/html!\${APACHE_DOCUMENT_ROOT}!' /etc/apache2/sites-available/000-default.conf && echo 'RedirectMatch 404 "/\\.(davit|env|git)"' > /etc/apache2/conf-enabled/hidden.conf && mv "$PHP_INI_DIR/php.ini-production" "$PHP_INI_DIR/php.ini"`,
        'WORKDIR /var/www/html',
        hasComposer ? 'COPY --from=composer:2.9 /usr/bin/composer /usr/local/bin/composer' : null,
        hasComposer
          ? copy(['composer.json', ...(files.has('composer.lock') ? ['composer.lock'] : [])], './')
          : null,
        hasComposer
          ? run(install.replace('--optimize-autoloader', '--no-autoloader'), [
              '/root/.composer/cache',
            ])
          : null,
        'COPY --chown=www-data:www-data . .',
        front === null
          ? null
          : `COPY --from=front --chown=www-data:www-data /app/${front.directory} ./${front.directory}`,
        hasComposer ? 'RUN composer dump-autoload --no-dev --optimize --no-scripts' : null,
        ...(settings.build === undefined
          ? []
          : [...buildArguments(buildVariables), run(settings.build)]),
        framework === 'Laravel'
          ? 'RUN mkdir -p storage/framework/cache storage/framework/sessions storage/framework/views storage/logs bootstrap/cache && chown -R www-data:www-data storage bootstrap/cache'
          : null,
        framework === 'Symfony'
          ? "ENV APP_ENV=prod\nRUN mkdir -p var && chown -R www-data:www-data var && echo 'FallbackResource /index.php' > /etc/apache2/conf-enabled/front.conf"
          : null,
        'USER www-data',
        'EXPOSE 8080',
        settings.start === undefined ? null : command(settings.start),
      ]),
      dockerignore: ignored(
        ...['vendor', 'node_modules', 'storage/logs/*', 'var/cache/*', 'var/log/*'],
        // They hold the defaults without which it doesn't start; secrets are in .env.local.
        ...(framework === 'Symfony' ? ['!.env', '!.env.prod'] : []),
      ),
      settings: effective(
        { version: version.version, directory: root, ...(hasComposer && { install }) },
        settings,
      ),
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

/** Extensions that the image lacks, of those that it can install. */
function extensionsOf(required: Record<string, unknown>, framework: string | null) {
  const asked = Object.keys(required).flatMap((name) => /^ext-([a-z_0-9]+)$/.exec(name)?.[1] ?? [])
  const usual = framework === null ? [] : ['pdo_mysql', 'pdo_pgsql', 'intl', 'zip']
  return [...new Set([...asked, ...usual])].filter((name) => Object.hasOwn(libraries, name)).sort()
}

/** Debian's packages that each needs to be compiled. */
const libraries: Record<string, string[]> = {
  bcmath: [],
  exif: [],
  gd: ['libpng-dev', 'libjpeg-dev', 'libfreetype-dev'],
  gmp: ['libgmp-dev'],
  intl: ['libicu-dev'],
  mysqli: [],
  pcntl: [],
  pdo_mysql: [],
  pdo_pgsql: ['libpq-dev'],
  pgsql: ['libpq-dev'],
  soap: ['libxml2-dev'],
  sockets: [],
  xsl: ['libxslt1-dev'],
  zip: ['libzip-dev'],
}

/** Assets that Vite or the like makes, as Laravel's and Symfony's starters have. */
function frontOf(files: Files, buildVariables: string[]) {
  const scripts = objectOf(files.json('package.json')['scripts'])
  const dependencies = dependenciesOf(files)
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
