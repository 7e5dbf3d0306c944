import { install } from './stand-in-recipes.ts'
import type { Recipe } from './stand-in-recipes.ts'

/** PHP's extensions that the official image lacks, which Debian has as packages. */
const extensions = 'bcmath gd gmp intl mysqli pdo_mysql pdo_pgsql pgsql soap xsl zip'

/** Where a package manager finds what its registry would have: Debian's packages of that language. */
const index = '/opt/index'

const pythons =
  'python3-flask python3-django python3-fastapi python3-uvicorn python3-gunicorn mkdocs'

const modules = 'golang-github-gin-gonic-gin-dev'

const frameworks = 'php-laravel-framework php-symfony-framework-bundle php-symfony-yaml python3'

const file = (path: string, ...lines: string[]) =>
  `RUN mkdir -p "$(dirname ${path})" && printf '%s\\n' ${lines.map((line) => `'${line}'`).join(' ')} > ${path}`

const script = (path: string, ...lines: string[]) =>
  `${file(path, '#!/bin/sh', 'set -e', ...lines)} && chmod +x ${path}`

/** A stand-in is what its tag says. */
const isDebians = (language: keyof typeof debians, version: string) => {
  if (debians[language] !== version)
    throw new Error(`Debian trixie has ${language} ${debians[language]}, and not ${version}.`)
}

const debians = { elixir: '1.18', maven: '3.9', python: '3.13', ruby: '3.3', rust: '1.85' }

/** The languages that Debian has, with its packages in place of their registries, which aren't reached here. */
export const languages: Record<string, Recipe> = {
  python: (version) => {
    isDebians('python', version)
    return {
      own: ['wheels.py'],
      lines: [
        install('python3', 'python3-venv', 'python3-pip', 'ca-certificates', 'tzdata'),
        'RUN cd /usr/local/bin && ln -s /usr/bin/python3 python3 && ln -s python3 python && rm /usr/lib/python3*/EXTERNALLY-MANAGED',
        'COPY wheels.py /tmp/',
        // They are in the index alone.
        `RUN apt-get update && apt-get install -y --no-install-recommends ${pythons} && python3 /tmp/wheels.py ${index} && apt-get purge -y --auto-remove ${pythons} && rm -rf /var/lib/apt/lists/*`,
        file('/etc/pip.conf', '[global]', 'no-index = true', `find-links = ${index}`),
        'CMD ["python3"]',
      ],
    }
  },
  ruby: (version) => {
    isDebians('ruby', version)
    return {
      own: ['gems.rb'],
      lines: [
        install(
          ...[
            'ruby',
            'bundler',
            'ca-certificates',
            'ruby-sinatra',
            'ruby-rackup',
            'ruby-rack-test',
          ],
          ...['puma', 'jekyll', 'ruby-rails', 'ruby-sqlite3'],
        ),
        'COPY gems.rb /tmp/',
        `RUN ruby /tmp/gems.rb ${index}`,
        file('/usr/local/etc/gemrc', 'gem: --no-document'),
        'ENV LANG=C.UTF-8 GEM_HOME=/usr/local/bundle BUNDLE_SILENCE_ROOT_WARNING=1 BUNDLE_APP_CONFIG=/usr/local/bundle PATH=/usr/local/bundle/bin:$PATH',
        `ENV BUNDLE_MIRROR__ALL=file://${index}`,
        'RUN mkdir "$GEM_HOME" && chmod 1777 "$GEM_HOME"',
        'CMD ["irb"]',
      ],
    }
  },
  php: (version) => ({
    own: ['packages.py'],
    lines: [
      install(
        ...['apache2', `libapache2-mod-php${version}`, `php${version}-cli`, 'composer'],
        ...['bcmath', 'gd', 'gmp', 'intl', 'mbstring', 'mysql', 'pgsql', 'soap', 'xml', 'zip'].map(
          (name) => `php${version}-${name}`,
        ),
      ),
      'COPY packages.py /tmp/',
      `RUN apt-get update && apt-get install -y --no-install-recommends ${frameworks} && python3 /tmp/packages.py ${index} && apt-get purge -y --auto-remove ${frameworks} && rm -rf /var/lib/apt/lists/*`,
      file(
        '/root/.composer/config.json',
        `{"repositories": [{"type": "composer", "url": "file://${index}"}, {"packagist.org": false}]}`,
      ),
      // Composer is copied from its own image, and finds its classes here.
      'RUN rm /usr/bin/composer && ln -s /usr/share/php /usr/local/share/php',
      `RUN phpdismod ${extensions}`,
      `ENV PHP_INI_DIR=/usr/local/etc/php APACHE_CONFDIR=/etc/apache2 APACHE_ENVVARS=/etc/apache2/envvars PHP_VERSION=${version}`,
      `RUN ln -s /etc/php/${version}/apache2 "$PHP_INI_DIR" && cp /usr/lib/php/${version}/php.ini-* "$PHP_INI_DIR/" && rm "$PHP_INI_DIR/php.ini"`,
      'RUN . /etc/apache2/envvars && for dir in "$APACHE_LOCK_DIR" "$APACHE_RUN_DIR" "$APACHE_LOG_DIR"; do rm -rf "$dir" && mkdir -p "$dir" && chown www-data:www-data "$dir" && chmod 1777 "$dir"; done && ln -sf /dev/stderr "$APACHE_LOG_DIR/error.log" && ln -sf /dev/stdout "$APACHE_LOG_DIR/access.log"',
      'RUN rm -r /var/www/html/* && chown www-data:www-data /var/www/html && chmod 1777 /var/www/html && a2dismod mpm_event || true',
      file(
        '/etc/apache2/conf-enabled/docker-php.conf',
        'DirectoryIndex disabled',
        'DirectoryIndex index.php index.html',
        '<Directory /var/www/>',
        'Options -Indexes',
        'AllowOverride All',
        '</Directory>',
      ),
      script('/usr/local/bin/docker-php-ext-install', 'phpenmod "$@"'),
      script('/usr/local/bin/docker-php-ext-configure'),
      script('/usr/local/bin/docker-php-entrypoint', 'exec "$@"'),
      script(
        '/usr/local/bin/apache2-foreground',
        '. /etc/apache2/envvars',
        'exec apache2 -DFOREGROUND "$@"',
      ),
      'ENTRYPOINT ["docker-php-entrypoint"]',
      'STOPSIGNAL SIGWINCH',
      'WORKDIR /var/www/html',
      'EXPOSE 80',
      'CMD ["apache2-foreground"]',
    ],
  }),
  composer: () => ({ lines: [install('composer'), 'ENTRYPOINT ["composer"]'] }),
  golang: (version) => ({
    own: ['modules.go'],
    lines: [
      install(`golang-${version}-go`, 'ca-certificates', 'gcc', 'libc6-dev', 'git'),
      `RUN ln -s /usr/lib/go-${version} /usr/local/go`,
      'ENV GOLANG_VERSION=1 GOTOOLCHAIN=local GOPATH=/go PATH=/go/bin:/usr/local/go/bin:$PATH',
      'COPY modules.go /tmp/',
      `RUN apt-get update && apt-get install -y --no-install-recommends ${modules} && GOCACHE=/tmp/cache go run /tmp/modules.go ${index} github.com/gin-gonic/gin@v1.8.1 && apt-get purge -y --auto-remove ${modules} && rm -rf /tmp/cache /var/lib/apt/lists/*`,
      `ENV GOPROXY=file://${index} GOSUMDB=off`,
      // Debian leaves it to its own package of time zones.
      'RUN mkdir -p -m 1777 /go/src /go/bin && mkdir -p /usr/lib/go-*/lib/time && touch /usr/local/go/lib/time/zoneinfo.zip',
      'WORKDIR /go',
    ],
  }),
  rust: (version) => {
    isDebians('rust', version)
    return {
      lines: [
        install(
          ...['cargo', 'gcc', 'libc6-dev', 'ca-certificates', 'librust-tiny-http-dev'],
          'librust-axum-dev',
        ),
        'ENV RUSTUP_HOME=/usr/local/rustup CARGO_HOME=/usr/local/cargo PATH=/usr/local/cargo/bin:$PATH RUST_VERSION=1.85.1',
        file(
          '/usr/local/cargo/config.toml',
          '[source.crates-io]',
          'replace-with = "debian"',
          '[source.debian]',
          'directory = "/usr/share/cargo/registry"',
        ),
      ],
    }
  },
  elixir: (version) => {
    isDebians('elixir', version)
    return {
      lines: [
        install('elixir', 'erlang-dev', 'erlang-hex', 'rebar3'),
        'ENV LANG=C.UTF-8',
        'CMD ["iex"]',
      ],
    }
  },
  maven: (version) => {
    isDebians('maven', version)
    return {
      lines: [
        install(
          'maven',
          'openjdk-21-jdk-headless',
          'libmaven-compiler-plugin-java',
          'libmaven-jar-plugin-java',
          'libmaven-resources-plugin-java',
          'libmaven-shade-plugin-java',
          'libsurefire-java',
        ),
        'ENV JAVA_HOME=/usr/lib/jvm/java-21-openjdk-amd64 MAVEN_HOME=/usr/share/maven MAVEN_CONFIG=/root/.m2',
        file(
          '/etc/maven/settings.xml',
          '<settings><mirrors><mirror><id>debian</id><mirrorOf>*</mirrorOf><url>file:///usr/share/maven-repo</url></mirror></mirrors></settings>',
        ),
        'CMD ["mvn"]',
      ],
    }
  },
  'eclipse-temurin': (version, tag) => ({
    lines: [
      install(
        `openjdk-${version}-${tag.endsWith('-jre') ? 'jre' : 'jdk'}-headless`,
        'ca-certificates',
      ),
      `RUN mkdir -p /opt/java && ln -s /usr/lib/jvm/java-${version}-openjdk-amd64 /opt/java/openjdk`,
      'ENV JAVA_HOME=/opt/java/openjdk PATH=/opt/java/openjdk/bin:$PATH LANG=en_US.UTF-8',
    ],
  }),
}
