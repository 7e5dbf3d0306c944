<?php

echo 'Hello, world';
