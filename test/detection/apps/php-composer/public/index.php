<?php

require __DIR__ . '/../vendor/autoload.php';

echo Pages\Page::text();
